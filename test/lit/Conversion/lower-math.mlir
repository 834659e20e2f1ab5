// RUN: dnn-opt %s --dnn-lower-math | FileCheck %s
// RUN: sed s/gfx942/sm_90/ %s | dnn-opt --dnn-lower-math | FileCheck %s --check-prefixes=CHECK,SM

// NVIDIA's device library has fma and abs, too; AMD's chips leave both to
// upstream.
module attributes {dnn.target = "gfx942"} {

// Scalars and vectors of f32 become intrinsics; what chips cannot do stays, and
// is refused later by its name.
// CHECK-LABEL: func.func @functions
// CHECK: llvm.call_intrinsic "llvm.exp2"(%{{.*}}) : (f32) -> f32
// CHECK: llvm.call_intrinsic "llvm.log2"(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
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
// CHECK: return
func.func @fused(%s: f32, %d: f64) -> (f32, f64) {
  %0 = math.absf %s : f32
  %1 = math.fma %d, %d, %d : f64
  return %0, %1 : f32, f64
}
}
