//===- EpilogueFrontend.cpp - A problem's epilogue as a region ------------===//

#include "compiler/Frontend/EpilogueFrontend.h"
#include "compiler/Frontend/ActivationFormulas.h"

using namespace mlir;
using namespace tessera;

static constexpr KernelArg kParameters[] = {
    KernelArg::ActivAlpha, KernelArg::ActivBeta, KernelArg::ActivGamma};

SmallVector<KernelArg> tessera::getEpilogueArgs(const Epilogue &epilogue) {
  SmallVector<KernelArg> args;
  if (epilogue.bias)
    args.push_back(KernelArg::Bias);
  if (epilogue.residual)
    args.push_back(KernelArg::Residual);
  if (epilogue.statistics)
    args.append({KernelArg::Mean, KernelArg::Variance});
  if (epilogue.normGradient != NormGradient::None) {
    using namespace norm_gradient;
    args.append({kInput, kMean, kInverse, kSum, kDot});
    if (epilogue.normGradient == NormGradient::Relu)
      args.append({kScale, kBias});
    if (epilogue.normGradient == NormGradient::Mask)
      args.push_back(kMask);
  }
  if (epilogue.alpha)
    args.push_back(KernelArg::Alpha);
  if (epilogue.beta)
    args.push_back(KernelArg::Beta);
  llvm::append_range(
      args,
      ArrayRef(kParameters).take_front(countParameters(epilogue.activation)));
  return args;
}

Value tessera::buildEpilogue(OpBuilder &builder, Location loc,
                             const Epilogue &epilogue, Value accumulator,
                             function_ref<Value(KernelArg)> find) {
  FloatBuilder f(builder, loc, accumulator.getType());
  Value v = accumulator;
  if (epilogue.alpha)
    v = f.mul(f.convert(find(KernelArg::Alpha)), v);
  if (epilogue.beta) {
    Value scale = f.convert(find(KernelArg::Beta));
    v = f.add(v, f.mul(scale, find(KernelArg::Y)));
  }
  if (epilogue.bias)
    v = f.add(v, find(KernelArg::Bias));
  if (epilogue.residual)
    v = f.add(v, find(KernelArg::Residual));
  return buildActivation(f, epilogue.activation, v,
                         [&](int i) { return find(kParameters[i]); });
}
