//===- TestKernel.h - Assembly of an empty kernel --------------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_COMPILER_TARGET_AMDGPU_TESTKERNEL_H
#define TESSERA_TEST_UNIT_COMPILER_TARGET_AMDGPU_TESTKERNEL_H

namespace tessera::test {

/// Assembly of a gfx942 kernel that ends at once. The numbers in its metadata
/// are made up, so that each can be told from the others.
inline constexpr char kTestKernel[] = R"(
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl	idle
	.p2align	8
	.type	idle,@function
idle:
	s_endpgm
.Lend:
	.size	idle, .Lend-idle
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel idle
		.amdhsa_kernarg_size 12
		.amdhsa_accum_offset 4
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: idle
    .symbol: idle.kd
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .group_segment_fixed_size: 32768
    .private_segment_fixed_size: 16
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
    .sgpr_count: 31
    .sgpr_spill_count: 3
    .vgpr_count: 134
    .vgpr_spill_count: 2
    .agpr_count: 6
    .args:
      - .address_space: global
        .offset: 0
        .size: 8
        .value_kind: global_buffer
      - .offset: 8
        .size: 4
        .value_kind: by_value
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
)";

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_COMPILER_TARGET_AMDGPU_TESTKERNEL_H
