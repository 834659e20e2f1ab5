// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-lower-points

!raw = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_80"} {
  func.func @chip(%x: memref<9x64xbf16> {dnn.arg = "x"}) attributes {dnn.kernel} {
    dnn.for_each_point [32] threads 32 {
    ^bb0(%i: index):
      %raw = memref.alloca() : !raw
      // expected-error@+1 {{needs a chip with a tensor memory accelerator, as sm_90}}
      dnn.box_load %x[%i, %i] box [8, 32] to %raw[%i] : memref<9x64xbf16> to !raw
    }
    return
  }
}

// -----

!raw = memref<8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "gfx942"} {
  func.func @matrices(%x: memref<9x64xbf16>) attributes {dnn.kernel} {
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      %raw = memref.alloca() : !raw
      // expected-error@+1 {{needs a chip with matrices of warps, as sm_80}}
      %v = dnn.load_matrices %raw[%i, %i] : !raw -> vector<4x2xbf16>
    }
    return
  }
}

// -----

!raw = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_90"} {
  // expected-error@+1 {{needs 'dnn.arg' on argument 0 to describe it by a tensor map}}
  func.func @name(%x: memref<9x64xbf16>) attributes {dnn.kernel} {
    dnn.for_each_point [32] threads 32 {
    ^bb0(%i: index):
      %raw = memref.alloca() : !raw
      dnn.box_load %x[%i, %i] box [8, 32] to %raw[%i] : memref<9x64xbf16> to !raw
    }
    return
  }
}

// -----

!raw = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_90"} {
  func.func @strides(%x: memref<9x63xbf16> {dnn.arg = "x"}) attributes {dnn.kernel} {
    dnn.for_each_point [32] threads 32 {
    ^bb0(%i: index):
      %raw = memref.alloca() : !raw
      // expected-error@+1 {{needs strides of whole 16 bytes}}
      dnn.box_load %x[%i, %i] box [8, 32] to %raw[%i] : memref<9x63xbf16> to !raw
    }
    return
  }
}

// -----

!raw = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_90"} {
  func.func @swizzled(%x: memref<9x64xbf16> {dnn.arg = "x"}) attributes {dnn.kernel} {
    dnn.for_each_point [32] threads 32 {
    ^bb0(%i: index):
      %raw = memref.alloca() : !raw
      dnn.box_load %x[%i, %i] box [8, 32] to %raw[%i] : memref<9x64xbf16> to !raw
      // expected-error@+1 {{accesses a buffer of boxes, whose elements lie where only matrices find them}}
      %v = memref.load %raw[%i, %i, %i] : !raw
    }
    return
  }
}

// -----

!raw = memref<1x16x24xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_90"} {
  func.func @plain(%x: memref<9x64xbf16> {dnn.arg = "x"}) attributes {dnn.kernel} {
    dnn.for_each_point [32] threads 32 {
    ^bb0(%i: index):
      %raw = memref.alloca() : !raw
      dnn.box_load %x[%i, %i] box [9, 24] plain to %raw[%i] : memref<9x64xbf16> to !raw
      // expected-error@+1 {{accesses a buffer of boxes, whose elements lie where only loads find them}}
      %v = dnn.load_matrices %raw[%i, %i, %i] : !raw -> vector<4x2xbf16>
    }
    return
  }
}

// -----

!raw = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_90"} {
  func.func @indices(%x: memref<9x64xbf16> {dnn.arg = "x"}) attributes {dnn.kernel} {
    dnn.for_each_point [32] threads 32 {
    ^bb0(%i: index):
      %zero = arith.constant 0 : index
      %raw = memref.alloca() : !raw
      %isFirst = arith.cmpi eq, %i, %zero : index
      scf.if %isFirst {
        // expected-error@+1 {{needs whole workgroups, and to be in no branch, nor in a loop whose bounds are not made of constants and of sizes}}
        dnn.box_store %raw to %x[%i, %i] box [8, 32] : !raw to memref<9x64xbf16>
      }
    }
    return
  }
}
