//===- Passes.td - Passes from dnn to the gpu level --------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_CONVERSION_PASSES_TD
#define TESSERA_COMPILER_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerTiles : Pass<"dnn-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "Turn tile programs into GPU functions";
  let description = [{
    Replaces each `dnn.kernel` function by a `gpu.func` kernel of the same name
    in a `gpu.module` named `kernels`: lanes, addresses, LDS buffers, matrix
    instructions and the software pipeline, chosen by the tables of the chip
    that `dnn.target` names. The function carries `known_block_size` and
    `known_grid_size`, from which the launch is made.

    Pipelines with `copy tma` (sm_90) become warp roles, tensor maps and wgmma
    (docs/design/0006-hopper.md). Such a kernel takes tensor maps before its
    other arguments: `dnn.tensor_maps` lists their texts, `dnn.shared_bytes` is
    the shared memory in bytes that its launch asks for.

    Pre-condition:  the module names a known chip in `dnn.target`; every
                    `dnn.kernel` function is a tile program.
    Post-condition: no dnn op is left.

    Example: see test/lit/Conversion/lower-tiles.mlir, and lower-hopper.mlir for
    `copy tma`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
    "::mlir::math::MathDialect"];
}

def LowerMath : Pass<"dnn-lower-math", "::mlir::ModuleOp"> {
  let summary = "Use the chips' own functions instead of a library's";
  let description = [{
    Turns ops that would become calls of a device library into LLVM's
    intrinsics, for which the chip has instructions: `math.exp2` and `math.log2`
    of f32, and for NVIDIA's chips `math.fma`, `math.absf`, `arith.maxnumf` and
    `arith.minnumf`, too.

    Pre-condition:  the module has the string attribute `dnn.target`.
    Post-condition: none of these ops is left.

    Example:
    ```mlir
    // Before
    %r = math.exp2 %v : vector<8xf32>
    // After
    %r = llvm.call_intrinsic "llvm.exp2"(%v) : (vector<8xf32>) -> vector<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerPoints : Pass<"dnn-lower-points", "::mlir::ModuleOp"> {
  let summary = "Turn point programs into GPU functions";
  let description = [{
    Replaces each `dnn.kernel` function that holds a `dnn.for_each_point` by a
    `gpu.func` kernel of the same name in the `gpu.module` named `kernels`, and
    moves the other kernel functions there, for `dnn-lower-tiles`. A thread
    finds its point; loads and stores become accesses of a buffer descriptor
    with 32-bit offsets, or, for tensors of more than 2 GiB, of 64-bit
    addresses. A space of more than 2^31 points is walked along its outer
    dimensions by each thread.

    Checks that cannot fail are left out, for coordinates that are linear in
    the point's coordinates and in loops of constant bounds; their offsets are
    summed from the outermost loop inwards, so that LLVM can hoist what does
    not change.

    Pre-condition:  the module names a known chip in `dnn.target`.
    Post-condition: no `dnn.for_each_point` is left.

    Example: see test/lit/Conversion/lower-points.mlir.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ChainLaunches : Pass<"dnn-chain-launches", "::mlir::ModuleOp"> {
  let summary = "Let a kernel's launch begin while the kernel in front ends";
  let description = [{
    Kernels of a module are launched one behind the other. On a chip with
    programmatic dependent launches each but the first begins by waiting for the
    one in front, and `dnn.dependent` says so: its launch need not wait.

    If all workgroups of such a kernel can be on the chip at once, the kernel in
    front lets them come as soon as it has no more workgroups to start. So that
    they do not crowd where room is first, each asks for as much shared memory
    (`dnn.shared_bytes`) as leaves a multiprocessor room for its share of them.
    A kernel that asks for shared memory already is left as it is.

    Other chips' modules are not changed.

    Pre-condition:  the module names a known chip in `dnn.target`; kernels have
                    `known_block_size` and `known_grid_size`.
    Post-condition: every kernel but the first has `dnn.dependent`.

    Example: see test/lit/Conversion/chain-launches.mlir.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

#endif // TESSERA_COMPILER_CONVERSION_PASSES_TD
