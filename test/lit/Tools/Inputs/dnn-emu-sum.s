; Computes out[i] = in[i] + in[127 - i] through LDS, for one workgroup of 128
; work-items on gfx942. Symbols leave out what the kernel needs (NO_BARRIER,
; NO_WRITE), or make it slow (ROW_BYTES is the distance in LDS of the values of two
; work-items, ROUNDS says how often it sums), or too small for its LDS (LDS_BYTES).
;
  .ifndef ROW_BYTES
  .set ROW_BYTES, 4
  .endif
  .ifndef ROUNDS
  .set ROUNDS, 1
  .endif
  .ifndef LDS_BYTES
  .set LDS_BYTES, 128 * ROW_BYTES
  .endif
  .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
  .text
  .globl sum
  .p2align 8
  .type sum,@function
sum:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_mul_u32_u24 v5, ROW_BYTES, v0
  v_xor_b32 v3, 0x7f, v0
  v_mul_u32_u24 v3, ROW_BYTES, v3
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  .ifndef NO_WRITE
  ds_write_b32 v5, v2
  .endif
  s_waitcnt lgkmcnt(0)
  .ifndef NO_BARRIER
  s_barrier
  .endif
  s_mov_b32 s8, ROUNDS
loop:
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  v_add_f32 v6, v2, v4
  .ifdef NO_WRITE
  v_mov_b32 v3, 0x77
  .endif
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 loop
  global_store_dword v1, v6, s[6:7]
  s_endpgm
.Lend:
  .size sum, .Lend-sum
  .rodata
  .p2align 6
  .amdhsa_kernel sum
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 16
    .amdhsa_accum_offset 8
    .amdhsa_group_segment_fixed_size LDS_BYTES
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_count 2
    .amdhsa_kernarg_size 16
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: sum
    .symbol: sum.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .agpr_count: 0
    .max_flat_workgroup_size: 128
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer }
      - { .offset: 8, .size: 8, .value_kind: global_buffer }
...
  .end_amdgpu_metadata
