// RUN: dnn-opt %s --dnn-lower-math | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: sed s/gfx942/sm_90/ %s | dnn-opt --dnn-lower-math | FileCheck %s --check-prefixes=CHECK,SM

// Upstream has a library of NVIDIA's for more functions than for AMD's chips.
module attributes {dnn.target = "gfx942"} {

// Scalars and vectors of f32 become intrinsics; what chips cannot do stays, and
// is refused later by its name.
// CHECK-LABEL: func.func @functions
// AMD: llvm.call_intrinsic "llvm.exp2"(%{{.*}}) : (f32) -> f32
// AMD: llvm.call_intrinsic "llvm.log2"(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
// SM: llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%{{.*}}) : (f32) -> f32
// SM-COUNT-8: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%{{.*}}) : (f32) -> f32
// SM: vector.from_elements
// CHECK: math.exp2 %{{.*}} : f64
func.func @functions(%s: f32, %v: vector<8xf32>, %d: f64) -> (f32, vector<8xf32>, f64) {
  %0 = math.exp2 %s : f32
  %1 = math.log2 %v : vector<8xf32>
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
}
