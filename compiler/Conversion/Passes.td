//===- Passes.td - Passes from dnn to the gpu level --------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_CONVERSION_PASSES_TD
#define TESSERA_COMPILER_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanKernel : Pass<"dnn-plan-kernel", "::mlir::ModuleOp"> {
  let summary = "Write into pipelines what the lowering decides by itself";
  let description = [{
    Gives each pipeline a value for all knobs that it can have
    (dialect/IR/PlanKnobs.def): those that the text of its tile has set keep theirs, and
    the others get what `dnn-expand-pipeline` would decide from the shapes and the chip.
    The kernel stays the same. A text of stage `tiled` then has the whole plan, to be
    changed by hand; the tuner changes each of its values.

    Pre-condition:  the module names a known chip in `dnn.target`.
    Post-condition: each pipeline that has knobs has a value for each.

    Example:
    ```mlir
    // Before
    func.func @add(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf16>) attributes {dnn.kernel} {
      %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf16> -> <1x64x64xf16>
      %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf16> -> <1x64x64xf16>
      %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
      dnn.for_each_tile [1, 1, 1] of [64, 64] {
      ^bb0(%g: index, %m: index, %n: index):
        %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
            sync barrier schedule pinned load {
        ^bb0(%k: index):
          %at = dnn.tile_load %a[%g, %m, %k] : <1x64x64xf16> -> <64x32xf16>
          %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
          dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
        } compute {
        ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>, %in: !dnn.tile<64x64xf32>):
          %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 2] lanes n
               : <64x32xf16>, <64x32xf16>, <64x64xf32>
          dnn.yield %out : !dnn.tile<64x64xf32>
        } : <64x64xf32>
        dnn.tile_store %acc, %d[%g, %m, %n] : <64x64xf32>, <1x64x64xf16>
      }
      return
    }
    // After

        %3 = dnn.pipeline reduce [64] step 32 buffers 2 copy registers sync barrier schedule pinned knobs(order n,
        store staged, fetch lines) load {
    ```
  }];
}

def ExpandPipeline : Pass<"dnn-expand-pipeline", "::mlir::ModuleOp"> {
  let summary = "Turn pipelines into programs of a workgroup";
  let description = [{
    Writes out what a workgroup does (docs/design/0035-workgroup-level.md). With `copy
    tma` its roles: producers copy the steps of all their tiles into stages, as far as
    there are empty ones; the consumers multiply, release stages and store. With
    `copy registers` or `copy direct_to_lds` what all waves do: copies that run ahead,
    steps, and barriers between them; with one buffer, which has the whole reduction, one
    step with all products. With `copy cp_async` waves share loops over pixels of narrow
    groups.

    Pre-condition:  the module names a known chip in `dnn.target`.
    Post-condition: each tile program is a `wg.program`.

    See test/lit/Conversion/expand-pipeline.mlir for an example of roles. Of waves:
    ```mlir
    // Before
    func.func @add(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf32>) attributes {dnn.kernel} {
      %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf16> -> <1x64x64xf16>
      %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf16> -> <1x64x64xf16>
      %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf32> -> <1x64x64xf32>
      dnn.for_each_tile [1, 1, 1] of [64, 64] {
      ^bb0(%g: index, %m: index, %n: index):
        %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
            sync barrier schedule pinned load {
        ^bb0(%k: index):
          %at = dnn.tile_load %a[%g, %m, %k] : <1x64x64xf16> -> <64x32xf16>
          %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
          dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
        } compute {
        ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>, %in: !dnn.tile<64x64xf32>):
          %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 2] lanes n
               : <64x32xf16>, <64x32xf16>, <64x64xf32>
          dnn.yield %out : !dnn.tile<64x64xf32>
        } : <64x64xf32>
        dnn.tile_store %acc, %d[%g, %m, %n] atomic : <64x64xf32>, <1x64x64xf32>
      }
      return
    }
    // After
    wg.program workgroups 1 waves [2, 2] {
      ...
      %3 = wg.alloc : <2x64x32xf16, chunks 32>
      %4 = wg.alloc : <2x64x32xf16, chunks 32>
      %5 = wg.tile %0[%c0_i32, %c0_i32] to %3 taps 0 : <1x64x64xf16> -> <64x32xf16>,
          <2x64x32xf16, chunks 32>
      ...
      %7 = wg.zero : <64x64>
      %8 = wg.tap %5[%c0_i32] : <64x32xf16>
      ...
      %10 = wg.fetch %8[%c0_i32] : <64x32xf16> -> <64x32xf16>
      ...
      wg.put %10 to %3[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
      ...
      %12 = wg.fetch %8[%c64_i32] : <64x32xf16> -> <64x32xf16>
      ...
      wg.barrier
      %14 = wg.load %3 at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
      ...
      %16:5 = scf.for %arg5 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg6 = %7, %arg7 = %12,
          %arg8 = %13, %arg9 = %14, %arg10 = %15) -> (!wg.acc<64x64>, !wg.pieces<64x32xf16>,
          !wg.pieces<64x32xf16>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>)  : i32 {
        ...
        %26:5 = scf.for %arg11 = %24 to %25 step %c128_i32 iter_args(%arg12 = %arg6,
            %arg13 = %arg7, %arg14 = %arg8, %arg15 = %arg9, %arg16 = %arg10) -> (!wg.acc<64x64>,
            !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>, !wg.fragment<32x16xf16>,
            !wg.fragment<32x16xf16>)  : i32 {
          ...
          %28:7 = wg.step pinned {
            %31 = wg.load %3 at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            ...
            wg.put %arg13 to %3[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
            %33 = wg.fetch %18[%arg11] : <64x32xf16> -> <64x32xf16>
            ...
            %37 = wg.mma %arg15, %arg16 add %arg12 {instruction = "mfma32"}
                : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
            %38 = wg.mma %31, %32 add %37 {instruction = "mfma32"} : !wg.fragment<32x16xf16>,
                !wg.fragment<32x16xf16> -> <64x64>
            wg.barrier
            %39 = wg.load %3 at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            ...
            wg.yield %38, %33, %35, %34, %36, %39, %40 : !wg.acc<64x64>, !wg.pieces<64x32xf16>,
                !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
                !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
      ...
      wg.store %16#0 to %17 : <64x64>
    ```
  }];
  let dependentDialects = ["::tessera::wg::WgDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerWorkgroup : Pass<"dnn-lower-workgroup", "::mlir::ModuleOp"> {
  let summary = "Lower programs of a workgroup to GPU functions";
  let description = [{
    Replaces each function with a `wg.program` by a `gpu.func` kernel.

    With roles it has tensor maps and wgmma (docs/design/0006-hopper.md). It takes
    tensor maps before its other arguments: `dnn.tensor_maps` lists their texts, and
    `dnn.shared_bytes` is the number of bytes of dynamic shared memory that its launch
    requests. A program is checked first: whether its roles read stages that are full,
    fill those that are empty, and arrive as often as these count.

    Of waves (docs/design/0035-workgroup-level.md) it has lanes, addresses, LDS
    buffers and matrix instructions, which depend on the tables of the chip. It is
    checked whether a slot is read and written between two barriers, whether copies
    are waited for, and whether the chip can do what is asked for.

    Pre-condition:  the module names a chip in `dnn.target`. A program with roles
                    copies two operands, to the same stages or to stages of their
                    own, and multiplies them; the chip has TMA and wgmma, or, for
                    products into tensor memory, tcgen05. A program of waves has two
                    operands, and steps in the form of WaveLowering.h.
    Post-condition: no op of the `wg` dialect is left.

    See test/lit/Conversion/lower-workgroup.mlir and lower-workgroup-waves.mlir for
    examples.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
    "::mlir::math::MathDialect"];
}

def CheckBanks : Pass<"dnn-check-banks", "::mlir::ModuleOp"> {
  let summary = "Refuse accesses of shared memory whose lanes meet in a bank";
  let description = [{
    Does the arithmetic of each access of shared memory for all lanes of all waves of
    the first workgroup, in the first iteration of each loop, and counts the clocks
    that a wave needs beyond those of an even spread over the banks. Rules of AMD's
    chips are those of runtime/Base/LdsBanks.cpp. NVIDIA's serve 128 bytes at a time,
    of lanes that follow one another, or the eight rows of a matrix. Copies by TMA and
    operands of wgmma are not judged: their layouts have no conflicts. Neither are
    accesses whose place is loaded or depends on arguments of the launch, of which a
    remark tells.

    No stage of the compiler runs it, since it takes longer than most of them:
    ```sh
    dnn-opt --problem "..." --target gfx942 --stop-after gpu | dnn-opt --dnn-check-banks
    ```

    Pre-condition:  stage `gpu`; the module names a known chip in `dnn.target`.
    Post-condition: the module is as before. The pass fails if lanes meet.

    Example: test/lit/Conversion/check-banks.mlir, where a lane stores to each row of a
    column: "a wave needs 62 clocks more than if they were spread over the banks".
  }];
}

def LowerMath : Pass<"dnn-lower-math", "::mlir::ModuleOp"> {
  let summary = "Lower math ops to intrinsics instead of library calls";
  let description = [{
    Some ops would become calls of a device library, although the chip has
    instructions for them. This pass replaces them by LLVM's intrinsics: these
    are `math.exp2` and `math.log2` of f32, and for NVIDIA's chips also
    `math.fma`, `math.absf`, `arith.maxnumf` and `arith.minnumf`. Conversions
    from and to floats of 8 bits become integer arithmetic. The low byte of a
    float, which rounding by an addition leaves there, is taken by `and` on
    NVIDIA's chips, whose assembler else converts the number that it stores.

    Pre-condition:  the module has the string attribute `dnn.target`.
    Post-condition: none of these ops is left.

    Example:
    ```mlir
    // Before
    %1 = math.log2 %v : vector<8xf32>
    // After
    %1 = llvm.call_intrinsic "llvm.log2"(%arg1) : (vector<8xf32>) -> vector<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerPoints : Pass<"dnn-lower-points", "::mlir::ModuleOp"> {
  let summary = "Lower point programs to GPU functions";
  let description = [{
    Replaces each `dnn.kernel` function that has a `dnn.for_each_point` by a
    `gpu.func` kernel of the same name in the `gpu.module` named `kernels`, and
    moves the other kernel functions there. A thread
    computes its point from its index. Loads and stores become accesses of a
    buffer descriptor with 32-bit offsets, or, for tensors of more than 2 GiB,
    accesses with 64-bit addresses. If the space has more than 2^31 points, each
    thread loops over its outer dimensions.

    If a coordinate is linear in the point's coordinates and in the induction
    variables of loops with constant bounds, checks that cannot fail are omitted.
    The offsets of such coordinates are summed from the outermost loop inwards,
    so that LLVM can hoist the invariant terms.

    Pre-condition:  the module names a known chip in `dnn.target`.
    Post-condition: no `dnn.for_each_point` is left.

    Example:
    ```mlir
    // Before
    func.func @window(%x: memref<2x9x7x16xf16>, %alpha: f32 {dnn.arg = "alpha"},
                      %y: memref<2x9x4x16xf16>) attributes {dnn.kernel} {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %eight = arith.constant 8 : index
      dnn.for_each_point [2, 9, 4, 2] threads 64 {
      ^bb0(%n: index, %h: index, %q: index, %block: index):
        %c = arith.muli %block, %eight : index
        %w0 = arith.muli %q, %two : index
        %none = arith.constant dense<0.0> : vector<8xf16>
        %sum = scf.for %s = %zero to %three step %one iter_args(%acc = %none) -> vector<8xf16> {
          %ws = arith.addi %w0, %s : index
          %w = arith.subi %ws, %one : index
          // Only the column can be outside.
          %v, %ok = dnn.point_load %x[%n, %h, %w, %c] : memref<2x9x7x16xf16> -> vector<8xf16>
          %next = arith.addf %acc, %v : vector<8xf16>
          scf.yield %next : vector<8xf16>
        }
        %alpha16 = arith.truncf %alpha : f32 to f16
        %scale = vector.broadcast %alpha16 : f16 to vector<8xf16>
        %r = arith.mulf %sum, %scale : vector<8xf16>
        dnn.point_store %r, %y[%n, %h, %q, %c] : vector<8xf16>, memref<2x9x4x16xf16>
      }
      return
    }
    // After
    gpu.func @window(%arg0: !llvm.ptr<1> {dnn.alignment = 4 : i64, llvm.noalias}, %arg1: f32
        {dnn.arg = "alpha"}, %arg2: !llvm.ptr<1> {dnn.alignment = 4 : i64,
        llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>,
        known_grid_size = array<i32: 3, 1, 1>} {
      ...
      %2 = rocdl.workitem.id.x range <i32, 0, 64> : i32
      ...
      scf.if %20 {
        ...
        %23 = scf.for %arg3 = %c0 to %c3 step %c1 iter_args(%arg4 = %cst) -> (vector<8xf16>) {
          ...
          %42 = arith.cmpi ult, %41, %c7_i32 : i32
          ...
          %58 = arith.select %42, %57, %c-2147483648_i32 : i32
          %59 = rocdl.raw.ptr.buffer.load %0, %58, %c0_i32, %c0_i32 : vector<4xi32>
          ...
          scf.yield %61 : vector<8xf16>
        ...
        rocdl.raw.ptr.buffer.store %38, %1, %37, %c0_i32, %c0_i32 : vector<4xi32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ChainLaunches : Pass<"dnn-chain-launches", "::mlir::ModuleOp"> {
  let summary = "Overlap the launch of a kernel with the end of the preceding one";
  let description = [{
    The kernels of a module are launched one after another. On a chip with
    programmatic dependent launches, each kernel waits for the preceding one
    before its first access of global memory, and gets the attribute
    `dnn.dependent`, so that its launch need not wait. The first kernel's
    preceding one is that of the call before; if it takes what it loads for
    constant (`ld.global.nc`), it is launched in the usual way.

    If all workgroups of such a kernel can be resident at once, the preceding
    kernel triggers the launch as soon as it has no more workgroups to start.
    The first multiprocessor with free resources must not get too many of the
    early workgroups. Hence each requests as much shared memory
    (`dnn.shared_bytes`) as limits a multiprocessor to its equal share of them. A
    kernel that requests shared memory for itself is not triggered early by one
    of the same call. The last kernel triggers the next call's if it leaves
    multiprocessors without a workgroup.

    Modules for other chips are not changed.

    Pre-condition:  the module names a known chip in `dnn.target`; kernels have
                    `known_block_size` and `known_grid_size`.
    Post-condition: every kernel but the first has `dnn.dependent`; the first has
                    it unless it loads constants.

    Example:
    ```mlir
    // Before
    gpu.func @sum() kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 144, 1, 1>} {
      gpu.return
    }
    // After
    gpu.func @sum() kernel attributes {dnn.dependent, dnn.shared_bytes = 115712 : i64,
        known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 144, 1, 1>} {
      nvvm.griddepcontrol  wait
      nvvm.griddepcontrol  launch_dependents
      gpu.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

#endif // TESSERA_COMPILER_CONVERSION_PASSES_TD
