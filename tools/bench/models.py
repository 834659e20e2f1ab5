"""Networks of PyTorch's for torch_models.py, in plain code as their authors describe them: each of another kind of
convolution. Weights are random; what a network is given, and how large it is, is in NETWORKS.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    """Three convolutions beside an identity, or beside a fourth where shapes change."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(channels, width, 1, bias=False),
                                    nn.Conv2d(width, width, 3, stride, 1, bias=False),
                                    nn.Conv2d(width, 4 * width, 1, bias=False)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(width), nn.BatchNorm2d(width), nn.BatchNorm2d(4 * width)])
        self.short = nn.Identity()
        if channels != 4 * width:
            self.short = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.norms[0](self.convs[0](x)), inplace=True)
        y = F.relu(self.norms[1](self.convs[1](y)), inplace=True)
        return F.relu(self.norms[2](self.convs[2](y)) + self.short(x), inplace=True)


class ResNet50(nn.Module):
    """The network of torchvision, which may not be there."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(count):
                layers.append(Bottleneck(channels, width, stride if number == 0 else 1))
                channels = 4 * width
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
                                  nn.MaxPool2d(3, 2, 1))
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(2048, 1000)

    def forward(self, x):
        return self.head(self.layers(self.stem(x)).mean((2, 3)))


class LastNorm(nn.LayerNorm):
    """Over the channels of an image."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNextBlock(nn.Module):
    """A depthwise window of 7 by 7, then two products beside an identity."""

    def __init__(self, width):
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width, eps=1e-6)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 1e-1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.narrow(F.gelu(self.wide(y)))).permute(0, 3, 1, 2)


class ConvNext(nn.Module):
    """ConvNeXt-T."""

    def __init__(self):
        super().__init__()
        widths, layers = (96, 192, 384, 768), []
        for number, (width, count) in enumerate(zip(widths, (3, 3, 9, 3))):
            layers += ([LastNorm(widths[number - 1], eps=1e-6), nn.Conv2d(widths[number - 1], width, 2, 2)] if number
                       else [nn.Conv2d(3, width, 4, 4), LastNorm(width, eps=1e-6)])
            layers += [ConvNextBlock(width) for _ in range(count)]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.LayerNorm(widths[-1], eps=1e-6), nn.Linear(widths[-1], 1000))

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class InvertedResidual(nn.Module):
    """MobileNetV2's: wide, depthwise, narrow; beside an identity where shapes stay."""

    def __init__(self, channels, width, stride, expansion):
        super().__init__()
        inner = channels * expansion
        parts = [nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(True)] * (expansion > 1)
        self.layers = nn.Sequential(
            *parts, nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False), nn.BatchNorm2d(inner),
            nn.ReLU6(True), nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width))
        self.keeps_shape = stride == 1 and channels == width

    def forward(self, x):
        return x + self.layers(x) if self.keeps_shape else self.layers(x)


class MobileNet(nn.Module):
    """MobileNetV2."""

    def __init__(self):
        super().__init__()
        layers, channels = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(True)], 32
        for expansion, width, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for number in range(count):
                layers.append(InvertedResidual(channels, width, 1 if number else stride, expansion))
                channels = width
        layers += [nn.Conv2d(channels, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(True)]
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(1280, 1000)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class DecoderBlock(nn.Module):
    """Two convolutions behind normalisations of groups, beside an identity or a product."""

    def __init__(self, channels, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(32, channels, 1e-6), nn.GroupNorm(32, width, 1e-6)])
        self.convs = nn.ModuleList([nn.Conv2d(channels, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)])
        self.short = nn.Identity() if channels == width else nn.Conv2d(channels, width, 1)

    def forward(self, x):
        y = x
        for norm, conv in zip(self.norms, self.convs):
            y = conv(F.silu(norm(y)))
        return self.short(x) + y


class Attention(nn.Module):
    """Of one head, between all pixels."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(32, width, 1e-6)
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        pixels = self.norm(x).flatten(2).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(*self.inputs(pixels).unsqueeze(1).chunk(3, -1))
        return x + self.output(mixed.squeeze(1)).transpose(1, 2).view_as(x)


class Decoder(nn.Module):
    """From a latent image of 4 channels to one of 8 times the size: the decoder of SDXL's autoencoder."""

    def __init__(self):
        super().__init__()
        layers, channels = [nn.Conv2d(4, 512, 3, padding=1), DecoderBlock(512, 512), Attention(512),
                            DecoderBlock(512, 512)], 512
        for number, width in enumerate((512, 512, 256, 128)):
            if number:
                layers += [nn.Upsample(scale_factor=2.0), nn.Conv2d(channels, channels, 3, padding=1)]
            for _ in range(3):
                layers.append(DecoderBlock(channels, width))
                channels = width
        layers += [nn.GroupNorm(32, 128, 1e-6), nn.SiLU(), nn.Conv2d(128, 3, 3, padding=1)]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class VolumePair(nn.Sequential):
    """Two convolutions of volumes, each with a normalisation."""

    def __init__(self, channels, width, stride):
        super().__init__()
        for number in range(2):
            self.append(nn.Conv3d(width if number else channels, width, 3, 1 if number else stride, 1))
            self.append(nn.InstanceNorm3d(width, affine=True))
            self.append(nn.LeakyReLU(0.01, True))


class VolumeNet(nn.Module):
    """nnU-Net's: half the size and more channels with each of six stages, and back."""

    def __init__(self):
        super().__init__()
        widths = (32, 64, 128, 256, 320, 320)
        self.down = nn.ModuleList(VolumePair(widths[max(i - 1, 0)] if i else 1, width, 2 if i else 1)
                                  for i, width in enumerate(widths))
        self.up = nn.ModuleList(nn.ConvTranspose3d(below, width, 2, 2) for width, below in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(VolumePair(2 * width, width, 1) for width in widths[:-1])
        self.head = nn.Conv3d(32, 4, 1)

    def forward(self, x):
        kept = []
        for stage in self.down:
            x = stage(x)
            kept.append(x)
        for number in reversed(range(5)):
            x = self.merge[number](torch.cat([self.up[number](x), kept[number]], 1))
        return self.head(x)


# The shape of one element of a batch, by name.
NETWORKS = {"resnet50": (ResNet50, (3, 224, 224)), "convnext": (ConvNext, (3, 224, 224)),
            "mobilenet": (MobileNet, (3, 224, 224)), "decoder": (Decoder, (4, 64, 64)),
            "volumes": (VolumeNet, (1, 128, 128, 128))}


def make_images(name, batch):
    """What the network is given, channels last."""
    torch.manual_seed(1)
    _, shape = NETWORKS[name]
    last = torch.channels_last if len(shape) == 3 else torch.channels_last_3d
    return torch.randn(batch, *shape, device="cuda").contiguous(memory_format=last)


def make_network(name):
    """A network whose statistics are those of random images, so that its result has a size. What a block of ResNet-50
    adds is small: rounding errors would grow from block to block.
    """
    torch.manual_seed(0)
    kind, shape = NETWORKS[name]
    network = kind().cuda().to(memory_format=torch.channels_last if len(shape) == 3 else torch.channels_last_3d)
    for module in network.modules():
        if isinstance(module, (nn.Conv2d, nn.Conv3d)):
            nn.init.kaiming_normal_(module.weight, mode="fan_out" if module.groups == 1 else "fan_in",
                                    nonlinearity="relu")
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 1.0
        if isinstance(module, Bottleneck):
            nn.init.constant_(module.norms[2].weight, 0.2)
    with torch.no_grad():
        network(make_images(name, 16 if len(shape) == 3 and shape[1] > 64 else 1))
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.1
    return network
