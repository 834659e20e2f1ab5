// Lanes that meet in a bank of shared memory, whatever the buffer's layout.

// RUN: dnn-opt --split-input-file --verify-diagnostics --dnn-check-banks %s

module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @lanes(%out: !llvm.ptr<1>) workgroup(%lds : memref<8192xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c33 = arith.constant 33 : i32
      %c64 = arith.constant 64 : i32
      %v = arith.constant 0.0 : f32
      %thread = rocdl.workitem.id.x : i32
      %group = rocdl.workgroup.id.x : i32
      %first = arith.muli %group, %c64 : i32
      %lane = arith.remui %thread, %c64 : i32
      %odd = arith.muli %lane, %c33 : i32
      %even = arith.muli %lane, %c32 : i32
      // A row has one element more than there are banks.
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %shift = arith.addi %first, %i : i32
        %index = arith.addi %odd, %shift : i32
        %at = arith.index_cast %index : i32 to index
        memref.store %v, %lds[%at] : memref<8192xf32, #gpu.address_space<workgroup>>
      }
      %column = arith.index_cast %even : i32 to index
      // expected-error@+1 {{'memref.store' op has lanes that meet in a bank of shared memory: a wave needs 62 clocks more than if they were spread over the banks}}
      memref.store %v, %lds[%column] : memref<8192xf32, #gpu.address_space<workgroup>>
      // Eight lanes come here: nobody else counts.
      %c8 = arith.constant 8 : i32
      %few = arith.cmpi ult, %thread, %c8 : i32
      scf.if %few {
        // expected-error@+1 {{a wave needs 7 clocks more}}
        memref.store %v, %lds[%column] : memref<8192xf32, #gpu.address_space<workgroup>>
      }
      // All read one element.
      %wave = rocdl.readfirstlane %thread : i32
      %same = arith.index_cast %wave : i32 to index
      %all = memref.load %lds[%same] : memref<8192xf32, #gpu.address_space<workgroup>>
      // Where this is, is loaded: it is not judged.
      %bits = arith.bitcast %all : f32 to i32
      %loaded = arith.index_cast %bits : i32 to index
      // expected-remark@+1 {{is not judged: where it is depends on what is loaded, or on arguments of the launch}}
      memref.store %v, %lds[%loaded] : memref<8192xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}

// -----

// Sixteen bytes a lane: eight lanes at a time, here of rows of 128 bytes, which
// all have the same four banks. With a swizzle they have all of them.
module attributes {dnn.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @rows() kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c4 = arith.constant 4 : i32
      %c7 = arith.constant 7 : i32
      %c128 = arith.constant 128 : i32
      %c2048 = arith.constant 2048 : index
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %view = memref.view %shared[%c2048][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<4096xi8, #gpu.address_space<workgroup>>
      %begin = memref.extract_aligned_pointer_as_index %view : memref<4096xi8, #gpu.address_space<workgroup>> -> index
      %address = arith.index_cast %begin : index to i32
      %base = llvm.inttoptr %address : i32 to !llvm.ptr<3>
      %lane = nvvm.read.ptx.sreg.tid.x : i32
      %row = arith.muli %lane, %c128 : i32
      %chunk = arith.andi %lane, %c7 : i32
      %bytes = arith.shli %chunk, %c4 : i32
      %swizzled = arith.addi %row, %bytes : i32
      %plain = llvm.getelementptr %base[%row] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %spread = llvm.getelementptr %base[%swizzled] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      // expected-error@+1 {{'llvm.load' op has lanes that meet in a bank of shared memory: a wave needs 28 clocks more}}
      %0 = llvm.load %plain : !llvm.ptr<3> -> vector<8xf16>
      %1 = llvm.load %spread : !llvm.ptr<3> -> vector<8xf16>
      // The rows of a matrix are those of eight lanes.
      // expected-error@+1 {{'nvvm.ldmatrix' op has lanes that meet in a bank of shared memory: a wave needs 7 clocks more}}
      %2 = nvvm.ldmatrix %plain {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
      %3 = nvvm.ldmatrix %spread {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
      gpu.return
    }
  }
}

// -----

// expected-error@+1 {{dnn-check-banks: the module must name a known chip in 'dnn.target'}}
module {
}
