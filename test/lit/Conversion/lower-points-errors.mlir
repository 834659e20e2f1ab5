// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-lower-points

// Wave size and buffer descriptors depend on the chip.
// expected-error@+1 {{needs the attribute 'dnn.target' naming one of}}
module {}

// -----

module attributes {dnn.target = "gfx942"} {
  // expected-error@+1 {{returns a value, but a kernel cannot}}
  func.func @result(%x: memref<8xf32>) -> memref<8xf32> attributes {dnn.kernel} {
    dnn.for_each_point [8] threads 64 {
    ^bb0(%i: index):
    }
    return %x : memref<8xf32>
  }
}

// -----

module attributes {dnn.target = "gfx942"} {
  // expected-error@+1 {{takes 'i32', but a kernel takes memrefs and f32 or f64 scalars}}
  func.func @argument(%x: i32) attributes {dnn.kernel} {
    dnn.for_each_point [8] threads 64 {
    ^bb0(%i: index):
    }
    return
  }
}

// -----

// Two grids need two kernels.
module attributes {dnn.target = "gfx942"} {
  // expected-error@+1 {{needs one dnn.for_each_point, before its return}}
  func.func @twice() attributes {dnn.kernel} {
    dnn.for_each_point [8] threads 64 {
    ^bb0(%i: index):
    }
    dnn.for_each_point [8] threads 64 {
    ^bb0(%i: index):
    }
    return
  }
}

// -----

// The memory must be an argument, so that the launch knows it.
module attributes {dnn.target = "gfx942"} {
  func.func @memory(%x: memref<8xf32>, %other: memref<8xf32>, %which: f32) attributes {dnn.kernel} {
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %which, %zero : f32
    %m = arith.select %c, %x, %other : memref<8xf32>
    dnn.for_each_point [8] threads 64 {
    ^bb0(%i: index):
      // expected-error@+1 {{needs an argument of the kernel function}}
      %v, %ok = dnn.point_load %m[%i] : memref<8xf32> -> f32
    }
    return
  }
}

// -----

// Not every thread of the last workgroup reaches this barrier.
module attributes {dnn.target = "gfx942"} {
  func.func @partial() attributes {dnn.kernel} {
    dnn.for_each_point [65] threads 64 {
    ^bb0(%i: index):
      // expected-error@+1 {{needs whole workgroups, and to be in no branch, nor in a loop whose bounds are not made of constants and of sizes}}
      gpu.barrier
    }
    return
  }
}

// -----

// Not every thread reaches a barrier in a branch.
module attributes {dnn.target = "gfx942"} {
  func.func @branch() attributes {dnn.kernel} {
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      %one = arith.constant 1 : index
      %first = arith.cmpi ult, %i, %one : index
      scf.if %first {
        // expected-error@+1 {{needs whole workgroups, and to be in no branch, nor in a loop whose bounds are not made of constants and of sizes}}
        gpu.barrier
      }
    }
    return
  }
}

// -----

// Threads may execute a barrier in this loop different numbers of times.
module attributes {dnn.target = "gfx942"} {
  func.func @loop() attributes {dnn.kernel} {
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      scf.for %j = %zero to %i step %one {
        // expected-error@+1 {{needs whole workgroups, and to be in no branch, nor in a loop whose bounds are not made of constants and of sizes}}
        gpu.barrier
      }
    }
    return
  }
}

// -----

// Private memory of a thread is not allocated in LDS.
module attributes {dnn.target = "gfx942"} {
  func.func @private() attributes {dnn.kernel} {
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      // expected-error@+1 {{needs a size, and to be in a workgroup's memory}}
      %m = memref.alloca() : memref<64xf32>
    }
    return
  }
}

// -----

// The runtime computes sizes of tensors' sizes and of nothing else.
module attributes {dnn.target = "gfx942"} {
  func.func @sizes(%x: memref<?xf32> {dnn.arg = "x"}, %n: f64 {dnn.arg = "alpha"})
      attributes {dnn.kernel} {
    %i = arith.fptoui %n : f64 to i32
    %count = arith.index_cast %i : i32 to index
    // expected-error@+1 {{needs sizes that are made of constants and of sizes of the kernel's tensors}}
    dnn.for_each_point [%count] threads 64 {
    ^bb0(%at: index):
    }
    return
  }
}

// -----

// What an attribute says of sizes is computed at the launch, so it has to be an
// expression for each dimension.
module attributes {dnn.target = "gfx942"} {
  // expected-error@+1 {{needs an expression of sizes in 'dnn.sizes' for each dimension of 'memref<?xf32>', but has ["xd0.*"]}}
  func.func @words(%x: memref<?xf32> {dnn.arg = "x", dnn.sizes = ["xd0.*"]})
      attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %count = memref.dim %x, %c0 : memref<?xf32>
    dnn.for_each_point [%count] threads 64 {
    ^bb0(%at: index):
    }
    return
  }
}

// -----

module attributes {dnn.target = "gfx942"} {
  // expected-error@+1 {{needs an expression of sizes in 'dnn.sizes' for each dimension of 'memref<?x4xf32>', but has ["xd0"]}}
  func.func @dimensions(%x: memref<?x4xf32> {dnn.arg = "x", dnn.sizes = ["xd0"]})
      attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %count = memref.dim %x, %c0 : memref<?x4xf32>
    dnn.for_each_point [%count] threads 64 {
    ^bb0(%at: index):
    }
    return
  }
}
