//===- micro.hip - Kernels that ask a chip one question each --------------===//
//
// Results of such kernels on MI210 and MI300X are published. micro.py compiles
// them and puts dnn-emu's predictions beside what was published.
//
//===----------------------------------------------------------------------===//

#define KERNEL extern "C" __attribute__((global))
#define LDS __attribute__((shared))

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));

__attribute__((device)) inline unsigned lane() {
  return __builtin_amdgcn_workitem_id_x();
}
__attribute__((device)) inline unsigned group() {
  return __builtin_amdgcn_workgroup_id_x();
}

// Each word of `chain` says how many bytes from the start the next one is.
KERNEL void chase_vector(const char *chain, unsigned *out, unsigned steps) {
  unsigned at = lane();
  for (unsigned i = 0; i < steps; ++i)
    at = *(const unsigned *)(chain + at);
  out[lane()] = at;
}

// The same with scalar loads: all lanes have the same address.
KERNEL void chase_scalar(const char *__restrict__ chain,
                         unsigned *__restrict__ out, unsigned steps) {
  unsigned at = 0;
  for (unsigned i = 0; i < steps; ++i)
    at = *(const unsigned *)(chain + at);
  out[0] = at;
}

KERNEL void chase_lds(const unsigned *chain, unsigned *out, unsigned steps) {
  LDS unsigned links[1024];
  for (unsigned i = lane(); i < 1024; i += 64)
    links[i] = chain[i];
  __builtin_amdgcn_s_barrier();
  unsigned at = links[lane()];
  for (unsigned i = 0; i < steps; ++i)
    at = *(const unsigned *)((const char *)links + at);
  out[lane()] = at;
}

// Groups of 256 read `steps` parts of 16 KB each. They are `stride` parts
// apart, and begin again after `parts`.
KERNEL void read_parts(const f32x4 *in, f32x4 *out, unsigned steps,
                       unsigned stride, unsigned parts) {
  f32x4 sum = {0, 0, 0, 0};
  unsigned part = group() % parts;
  for (unsigned i = 0; i < steps; ++i) {
    const f32x4 *from = in + part * 1024u + lane();
    f32x4 a = from[0], b = from[256], c = from[512], d = from[768];
    sum += a + b + c + d;
    part = (part + stride) % parts;
  }
  if (sum[0] == 1.5f)
    out[lane()] = sum;
}

// The same, written.
KERNEL void write_parts(f32x4 *out, unsigned steps, unsigned stride,
                        unsigned parts) {
  const f32x4 value = {0, 1, 2, 3};
  unsigned part = group() % parts;
  for (unsigned i = 0; i < steps; ++i) {
    f32x4 *to = out + part * 1024u + lane();
    to[0] = to[256] = to[512] = to[768] = value;
    part = (part + stride) % parts;
  }
}

// Reads four dwords of LDS a step; lanes are `stride` dwords apart.
KERNEL void read_lds(unsigned *out, unsigned steps, unsigned stride) {
  LDS unsigned words[8192];
  for (unsigned i = lane(); i < 8192; i += 1024)
    words[i] = i;
  __builtin_amdgcn_s_barrier();
  const unsigned at = lane() % 64 * stride;
  unsigned sum = 0;
  for (unsigned i = 0; i < steps; ++i) {
    sum += words[at] + words[at + 1024] + words[at + 2048] + words[at + 3072];
    __asm__ volatile("" ::: "memory"); // the next step reads again
  }
  out[lane()] = sum;
}

// Two chains of matrix instructions.
KERNEL void multiply_f16(float *out, unsigned steps) {
  const f16x4 a = {1, 2, 3, 4}, b = {4, 3, 2, 1};
  f32x16 first = {}, second = {};
  for (unsigned i = 0; i < steps; ++i) {
    first = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, first, 0, 0, 0);
    second = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, second, 0, 0, 0);
  }
  out[lane()] = first[0] + second[0];
}

KERNEL void multiply_f32(float *out, unsigned steps) {
  f32x16 first = {}, second = {};
  for (unsigned i = 0; i < steps; ++i) {
    first = __builtin_amdgcn_mfma_f32_32x32x2f32(1, 2, first, 0, 0, 0);
    second = __builtin_amdgcn_mfma_f32_32x32x2f32(2, 1, second, 0, 0, 0);
  }
  out[lane()] = first[0] + second[0];
}

// Multiply-adds of doubles in 16 chains, four of each a step.
KERNEL void multiply_add_f64(double *out, double factor, unsigned steps) {
  double sums[16] = {};
  for (unsigned i = 0; i < steps; ++i)
#pragma unroll
    for (unsigned j = 0; j < 64; ++j)
      sums[j % 16] = __builtin_fma(sums[j % 16], factor, factor);
  double sum = 0;
  for (unsigned j = 0; j < 16; ++j)
    sum += sums[j];
  out[lane()] = sum;
}
