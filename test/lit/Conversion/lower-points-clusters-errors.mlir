// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-lower-points

// AMD's chips and older ones of NVIDIA have no clusters.
module attributes {dnn.target = "sm_80"} {
  func.func @chip(%x: memref<8xf32>) attributes {dnn.kernel} {
    // expected-error@+1 {{needs a chip with clusters, as sm_90}}
    dnn.for_each_point [4, 64] threads 64 attributes {dnn.cluster = 2 : i64} {
    ^bb0(%i: index, %j: index):
    }
    return
  }
}

// -----

// Every workgroup is in a whole cluster.
module attributes {dnn.target = "sm_90"} {
  func.func @whole(%x: memref<8xf32>) attributes {dnn.kernel} {
    // expected-error@+1 {{needs clusters of up to 8 workgroups that divide all of them}}
    dnn.for_each_point [5, 64] threads 64 attributes {dnn.cluster = 2 : i64} {
    ^bb0(%i: index, %j: index):
    }
    return
  }
}

// -----

// A barrier of a cluster without one would wait for nobody.
module attributes {dnn.target = "sm_90"} {
  func.func @barrier(%x: memref<8xf32>) attributes {dnn.kernel} {
    dnn.for_each_point [4, 64] threads 64 {
    ^bb0(%i: index, %j: index):
      // expected-error@+1 {{is of a cluster, but is no barrier or store of a program with clusters}}
      gpu.barrier {dnn.cluster}
    }
    return
  }
}
