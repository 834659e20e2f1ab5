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

    Pre-condition:  the module names a known chip in `dnn.target`; every
                    `dnn.kernel` function is a tile program.
    Post-condition: no dnn op is left.

    Example: see test/lit/Conversion/lower-tiles.mlir.
  }];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
    "::mlir::math::MathDialect"];
}

#endif // TESSERA_COMPILER_CONVERSION_PASSES_TD
