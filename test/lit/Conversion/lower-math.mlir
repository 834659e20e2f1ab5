// RUN: dnn-opt %s --dnn-lower-math | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: sed s/gfx942/sm_90/ %s | dnn-opt --dnn-lower-math | FileCheck %s --check-prefixes=CHECK,SM

// Upstream's conversion calls NVIDIA's device library for more functions than AMD's,
// so that this pass lowers more of them itself on NVIDIA's chips.
module attributes {dnn.target = "gfx942"} {

// Functions of f32 scalars and vectors become intrinsics. Those that chips cannot
// compute are left, and are refused later by name.
// CHECK-LABEL: func.func @functions
// AMD: llvm.call_intrinsic "llvm.exp2"(%{{.*}}) : (f32) -> f32
// AMD: llvm.call_intrinsic "llvm.log2"(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
// SM: llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%{{.*}}) : (f32) -> f32
// SM-COUNT-8: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%{{.*}}) : (f32) -> f32
// SM: vector.from_elements
// CHECK: math.exp2 %{{.*}} : f64
func.func @functions(%s: f32, %v: vector<8xf32>, %d: f64) -> (f32, vector<8xf32>, f64) {
  %0 = math.exp2 %s : f32
  // EXAMPLE: dnn-lower-math
  %1 = math.log2 %v : vector<8xf32>
  // EXAMPLE-AFTER: llvm.log2
  // EXAMPLE-END
  %2 = math.exp2 %d : f64
  return %0, %1, %2 : f32, vector<8xf32>, f64
}

// CHECK-LABEL: func.func @fused
// SM: llvm.call_intrinsic "llvm.fabs"(%{{.*}}) : (f32) -> f32
// SM: llvm.call_intrinsic "llvm.fma"(%{{.*}}, %{{.*}}, %{{.*}}) : (f64, f64, f64) -> f64
// SM: llvm.call_intrinsic "llvm.maxnum"(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// AMD: math.absf
// AMD: math.fma
// AMD: arith.maxnumf
// CHECK: return
func.func @fused(%s: f32, %d: f64) -> (f32, f64) {
  %0 = math.absf %s : f32
  %1 = math.fma %d, %d, %d : f64
  %2 = arith.maxnumf %0, %s : f32
  return %2, %1 : f32, f64
}

// Square roots become intrinsics in f64 as well; reciprocal ones only in f32, where
// chips have an instruction.
// CHECK-LABEL: func.func @roots
// CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (vector<2xf32>) -> vector<2xf32>
// CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f64) -> f64
// AMD: llvm.call_intrinsic "llvm.amdgcn.rsq"(%{{.*}}) : (f32) -> f32
// SM: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%{{.*}}) : (f32) -> f32
func.func @roots(%v: vector<2xf32>, %s: f32, %d: f64) -> (vector<2xf32>, f32, f64) {
  %0 = math.sqrt %v : vector<2xf32>
  %1 = math.sqrt %d : f64
  %2 = math.rsqrt %s : f32
  return %0, %2, %1 : vector<2xf32>, f32, f64
}

// Floats of 8 bits have their bits put where f32 has them: a product with a power of two, 2^119
// here, gives exponents another bias, and makes subnormal numbers normal. NaN of FNUZ is the
// code of -0.
// CHECK-LABEL: func.func @extend_float8
// CHECK-SAME: (%[[IN:.*]]: vector<4xf8E4M3FNUZ>)
// CHECK: %[[CODES:.*]] = arith.bitcast %[[IN]] : vector<4xf8E4M3FNUZ> to vector<4xi8>
// CHECK: arith.extui %[[CODES]] : vector<4xi8> to vector<4xi32>
// CHECK: %[[BIAS:.*]] = arith.constant dense<6.64613997E+35> : vector<4xf32>
// CHECK: arith.mulf %{{.*}}, %[[BIAS]] : vector<4xf32>
// CHECK: %[[IS:.*]] = arith.cmpi eq
// CHECK: %[[NAN:.*]] = arith.constant dense<2143289344> : vector<4xi32>
// CHECK: arith.select %[[IS]], %[[NAN]], %{{.*}} : vector<4xi1>, vector<4xi32>
// CHECK-NOT: arith.extf
// CHECK: return %{{.*}} : vector<4xf32>
func.func @extend_float8(%v: vector<4xf8E4M3FNUZ>) -> vector<4xf32> {
  %0 = arith.extf %v : vector<4xf8E4M3FNUZ> to vector<4xf32>
  return %0 : vector<4xf32>
}

// The largest e4m3fn is 448, whose f32 has the bits 1138753536: what is larger becomes it.
// A wider type than f32 is not needed; f16 becomes f32 first.
// CHECK-LABEL: func.func @truncate_float8
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[MOST:.*]] = arith.constant 1138753536 : i32
// CHECK: arith.minui %{{.*}}, %[[MOST]] : i32
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
func.func @truncate_float8(%v: f16) -> f8E4M3FN {
  %0 = arith.truncf %v : f16 to f8E4M3FN
  return %0 : f8E4M3FN
}

// Two bf16 in a register become f32 by a shift and a mask on chips without an
// instruction for it.
// CHECK-LABEL: func.func @extend
// SM: %[[WORDS:.*]] = vector.bitcast %{{.*}} : vector<2xbf16> to vector<1xi32>
// SM: %[[WORD:.*]] = vector.extract %[[WORDS]][0]
// SM: arith.shli %[[WORD]], %c16_i32
// SM: arith.andi %{{.*}}, %c-65536_i32
// SM: vector.from_elements
// SM: arith.extf %{{.*}} : bf16 to f32
// AMD: arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
func.func @extend(%v: vector<2xbf16>, %s: bf16) -> (vector<2xf32>, f32) {
  %0 = arith.extf %v : vector<2xbf16> to vector<2xf32>
  %1 = arith.extf %s : bf16 to f32
  return %0, %1 : vector<2xf32>, f32
}

// The low byte of a sum is its whole number. NVIDIA's assembler takes a register that an
// addition of floats has written for a float, and converts it where a byte is stored.
// CHECK-LABEL: func.func @bytes
// SM: %[[BYTE:.*]] = llvm.inline_asm "and.b32 $0, $1, 255;", "=r,r"
// SM: arith.trunci %[[BYTE]] : i32 to i8
// SM-COUNT-2: llvm.inline_asm "and.b32
// SM: arith.trunci %{{.*}} : vector<2xi32> to vector<2xi8>
// AMD-NOT: llvm.inline_asm
// CHECK: return
func.func @bytes(%s: f32, %v: vector<2xf32>) -> (i8, vector<2xi8>) {
  %0 = arith.bitcast %s : f32 to i32
  %1 = arith.trunci %0 : i32 to i8
  %2 = arith.bitcast %v : vector<2xf32> to vector<2xi32>
  %3 = arith.trunci %2 : vector<2xi32> to vector<2xi8>
  return %1, %3 : i8, vector<2xi8>
}

}
