"""What compiles a graph for torch.compile's backend "tessera" (tessera/compile.py)."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Any, Callable, Sequence

import torch
import torch._guards
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.backends.common import aot_autograd
from torch.fx.experimental.proxy_tensor import make_fx

from tessera import _fused, _library, _rewrite, _statistics
from tessera._step import Prepared, Step


@dataclasses.dataclass
class Options:
    """What torch.compile(..., options={...}) may say."""
    cuda_graphs: bool = False  #: As mode="reduce-overhead" and mode="max-autotune" do.
    tune: bool = False  #: Kernels of convolutions are timed before the first step; as both modes "max-autotune..." do.
    alternate: bool = True  #: A launch begins with what the one in front of it has written last, if tensors are large.
    fuse: bool = True  #: Additions and activations in the kernels of convolutions.
    inductor: bool = True  #: What is not ours is compiled by Inductor; otherwise it is PyTorch's, operator by operator.
    # Of the next two, None is: where they have been seen to pay, on NVIDIA's GPUs with wgmma.
    statistics: bool | None = None  #: Convolutions of a training step measure what a batch normalisation behind reads.
    norm_gradients: bool | None = None  #: Gradients of convolutions measure what those of a batch normalisation need.
    norm_relu: bool = False  #: Batch normalisation of a training step with a ReLU behind it is ours.


_MODES = {"default": {}, "reduce-overhead": {"cuda_graphs": True}, "max-autotune": {"cuda_graphs": True, "tune": True},
          "max-autotune-no-cudagraphs": {"tune": True}}


def _read_options(mode: str | None, options: dict[str, Any] | None) -> Options:
    if (mode := mode or "default") not in _MODES:
        raise ValueError(f"backend 'tessera' has no mode '{mode}', but {', '.join(_MODES)}")
    known = [field.name for field in dataclasses.fields(Options)]
    if unknown := set(options or ()) - set(known):
        raise ValueError(f"backend 'tessera' has no option {', '.join(sorted(unknown))}, but {', '.join(known)}")
    return Options(**{**_MODES[mode], **(options or {})})


def _choose(options: Options, inputs: Sequence[Any]) -> Options:
    """With a decision for each of the options that are none."""
    devices = {one.device for one in inputs if isinstance(one, torch.Tensor) and one.is_cuda}
    pays = bool(devices) and not torch.version.hip and all(
        torch.cuda.get_device_capability(device)[0] == 9 for device in devices)
    return dataclasses.replace(options, **{name: pays for name in ("statistics", "norm_gradients")
                                           if getattr(options, name) is None})


def _compile_inference(options: Options) -> Callable:
    """The compiler of a graph without gradients."""
    def compile_graph(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        static = _get_static(inputs)
        _rewrite.fold_batch_norms(module.graph, static)
        _statistics.fuse_image_norms(module.graph)
        _rewrite.lay_channels_last(module.graph)
        _rewrite.fuse_convolutions(module.graph, options.fuse)
        _rewrite.replace_pools(module.graph)
        if options.alternate:
            _rewrite.alternate_orders(module.graph)
        split = _rewrite.Split(module, static)
        rest = split.rest
        split.rest = _rewrite.copy_without_writes(rest)
        writes = len(split.rest.graph.nodes) != len(rest.graph.nodes)
        function = _compile_rest(_decompose(rest) if options.inductor else rest, options, is_inference=True)
        return Step(split, function, static, options.cuda_graphs and not writes and _is_on_gpu(module), options.tune)
    return compile_graph


def _list_training_compilers(options: Options) -> dict[str, Any]:
    """What aot_autograd wants for graphs with gradients: operators of Inductor's, of which convolutions are ours."""
    shared: dict[str, Any] = {}
    if options.inductor:
        from torch._inductor.compile_fx import BoxedBool, BoxedDeviceIndex, _graph_counter
        shared = {"cudagraphs": BoxedBool(options.cuda_graphs), "graph_id": next(_graph_counter),
                  "boxed_forward_device_index": BoxedDeviceIndex(None)}

    def compile_graph(module: torch.fx.GraphModule, inputs: Sequence[Any], is_backward: bool) -> Callable:
        _rewrite.fuse_convolutions(module.graph, options.fuse)
        _rewrite.replace_gradients(module.graph)
        module.recompile()
        # The backward graph's last arguments are the gradients of results; what comes before, the forward graph saves.
        placeholders = module.graph.find_nodes(op="placeholder")
        static = [number for number, placeholder in enumerate(placeholders) if "tangents" not in placeholder.name] \
            if is_backward else _get_static(inputs)
        reading = _rewrite.copy_without_writes(module)
        function = _compile_rest(module, options, static_input_idxs=static, is_backward=is_backward, **shared)
        return Prepared(reading, function, range(len(inputs)), options.tune)
    return {"fw_compiler": functools.partial(compile_graph, is_backward=False),
            "bw_compiler": functools.partial(compile_graph, is_backward=True)}


def _list_joint_options(options: Options) -> dict[str, Any]:
    """How aot_autograd makes a graph with gradients, and two of it."""
    from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition
    result: dict[str, Any] = {}
    table, split = {}, default_partition
    if options.inductor:
        from torch._inductor.decomposition import select_decomp_table
        table = select_decomp_table()
        split = functools.partial(min_cut_rematerialization_partition, compiler="inductor")
        # Of both, the first has normalisations with a ReLU behind them.
        count = 1 if options.statistics else 0
        if options.norm_relu or options.norm_gradients:
            count = len(_rewrite.KEPT)
        kept = _rewrite.KEPT[:count] + _rewrite.POOLS + _rewrite.POOL_GRADIENTS
        # Inductor writes running statistics in kernels that it has anyway.
        result["keep_inference_input_mutations"] = True
        result["decompositions"] = {op: function for op, function in table.items() if op not in kept}

    def partition(joint: torch.fx.GraphModule, inputs: Sequence[Any], **how: Any) -> Any:
        if options.norm_gradients:
            _rewrite.mask_pooled_gradients(joint.graph)
            _rewrite.fuse_norm_gradients(joint.graph, table, not options.norm_relu and not options.statistics)
        if options.norm_relu:
            _rewrite.fuse_norms(joint.graph, {} if options.statistics else table)
        if options.statistics:
            _rewrite.fuse_statistics(joint.graph, table)
        _rewrite.fuse_pools(joint.graph, table)
        joint.recompile()
        return split(joint, inputs, **how)
    return {**result, "partition_fn": partition}


def _get_static(inputs: Sequence[Any]) -> list[int]:
    """The numbers of parameters and buffers among a graph's arguments."""
    context = torch._guards.TracingContext.try_get()
    numbers = context.fw_metadata.static_input_indices if context and context.fw_metadata else None
    return sorted(number for number in numbers or () if isinstance(inputs[number], torch.Tensor))


def _is_on_gpu(module: torch.fx.GraphModule) -> bool:
    values = [node.meta.get("val") for node in module.graph.nodes]
    return all(value.is_cuda for value in values if isinstance(value, torch.Tensor))


def _compile_rest(module: torch.fx.GraphModule, options: Options, **how: Any) -> Callable[[list], Sequence[Any]]:
    """A function of one list of arguments. `how` is for Inductor."""
    if not options.inductor:
        return lambda arguments: module(*arguments)
    from torch._inductor.compile_fx import compile_fx_inner
    _rewrite.fix_strides(module.graph)
    output = module.graph.output_node()
    output.meta["user_visible_output_idxs"] = [
        number for number, one in enumerate(output.args[0]) if isinstance(one, torch.fx.Node)]
    return compile_fx_inner(module, _get_values(module), **how)


def _get_values(module: torch.fx.GraphModule) -> list[Any]:
    """A graph's arguments, as fake tensors."""
    return [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")]


def _decompose(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The same of operators that Inductor expects."""
    from torch._inductor.decomposition import select_decomp_table
    values = _get_values(module)
    with torch._guards.detect_fake_mode(values) or contextlib.nullcontext(), enable_python_dispatcher(), \
            torch.no_grad():
        return make_fx(lambda *arguments: module(*arguments), select_decomp_table(),
                       _allow_non_fake_inputs=True)(*values)


def backend(module: torch.fx.GraphModule, inputs: Sequence[Any], *, mode: str | None = None,
            options: dict[str, Any] | None = None) -> Callable:
    """What torch.compile calls with each graph."""
    read = _choose(_read_options(mode, options), inputs)
    _fused.start()
    if any(isinstance(size, torch.SymInt) for one in inputs
           for size in (one.shape if isinstance(one, torch.Tensor) else [one])):
        _library.expect_new_sizes()
    compilers = {"inference_compiler": _compile_inference(read), **_list_training_compilers(read)}
    if torch.is_grad_enabled() and any(
            one.requires_grad for one in (*inputs, *module.parameters()) if isinstance(one, torch.Tensor)):
        compilers |= _list_joint_options(read)
    return aot_autograd(**compilers)(module, inputs)
