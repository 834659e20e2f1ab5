"""Tests of the corpus on a database of a few lines, with answers worked by hand."""

import bz2
import os
import sqlite3
import tempfile

import launches
import statistic
import verify
from records import Refused, parse_key, read_find_db

LINES = """\
64-56-56-1x1-256-56-56-32-0x0-1x1-1x1-0-NCHW-FP16-F=ConvDirectNaiveConvFwd:2.5,0,a;\
ConvOther:0.5,16,b
128-14-14-3x3-64-28-28-2-1x1-2x2-1x1-0-NHWC-NHWC-NHWC-FP32-B_g2=\
ConvDirectNaiveConvBwd:0.125,0,a

no record
"""
TUNING = ("fwd,nhwc,fp16,0,1,128,64,32,32,32,8,1,1,2,1,0,1,1,0,0,"
          "1,4,2,1,1,8,1,32,1,4,1,1,1,8,1,32,5")


def expect(got, wanted, what):
    if got != wanted:
        raise SystemExit(f"selftest: {what}: {got} instead of {wanted}")


def refusal_of(function, *arguments):
    try:
        function(*arguments)
    except Refused as reason:
        return str(reason)
    return None


def check_records(folder):
    path = os.path.join(folder, "small.fdb.txt.bz2")
    with bz2.open(path, "wt") as file:
        file.write(LINES)
    found = list(read_find_db(path, "gfx942"))
    expect([(r.solver, r.ms) for r in found],
           [("ConvDirectNaiveConvFwd", 2.5), ("ConvOther", 0.5),
            ("ConvDirectNaiveConvBwd", 0.125)], "records")
    halves = {r.is_fit for chip in ("a", "b", "c", "d", "e", "f", "g", "h")
              for r in read_find_db(path, chip)}
    expect(halves, {True, False}, "both halves occur")
    backward = parse_key(found[2].key)
    expect((backward.c, backward.h, backward.k, backward.p, backward.groups),
           (64, 28, 128, 14, 2), "tensors of backward data")
    expect(backward.sizes, (2 * 64 * 28 * 28, 128 * 32 * 9, 2 * 128 * 14 * 14),
           "elements")
    for key, reason in (
            ("1-1-1-1-1x4x4-512-1-4-4-128-0x0x0-1x1x1-1x1x1-0-NCDHW-FP32-B",
             "three dimensions"),
            ("1-1-1-1x1-1-1-1-1-0x0-1x1-1x1-0-NCHW-INT8-F",
             "a type other than FP32, FP16 and BF16"),
            ("1-1-1-1x1-1-1-1-1-0x0-1x1-1x1-0-CHWN-FP32-F",
             "layouts that differ or are not NCHW or NHWC"),
            ("1-2-3", "a key of another form")):
        expect(refusal_of(parse_key, key), reason, key)


def check_naive():
    backward = parse_key("128-14-14-3x3-64-28-28-2-1x1-2x2-1x1-0-NHWC-FP32-B_g2")
    launch = launches.naive_launch(backward, has_strides=True)
    expect(launch.kernel, "naive_conv_nonpacked_bwd_nhwc_float_double_float",
           "name")
    expect((launch.grid, launch.block), (2 * 2 * 28, 256), "grid")
    expect(launch.arguments[0], "bytes:" + "".join(
        v.to_bytes(8, "little").hex() for v in (1, 32, 64, 28 * 64, 28 * 28 * 64)),
        "strides of x")
    expect([int(a[4:]) for a in launch.arguments[3:]],
           [28, 28, 2, 64, 32, 14, 14, 2, 2, 1, 1, 1, 1, 3, 3, 2], "numbers")
    packed = launches.naive_launch(backward, has_strides=False)
    expect(packed.kernel, "naive_conv_bwd_nhwc_float_double_float", "old name")
    expect(packed.arguments, launch.arguments[3:], "old arguments")
    filters = parse_key("8-5-4-3x3-6-5-4-3-1x1-1x1-1x1-0-NCHW-BF16-W")
    expect(launches.naive_launch(filters, False).grid, 8, "groups of a gradient")


def check_gtc(folder):
    path = os.path.join(folder, "small.db")
    values = ("F", "NHWC", "FP16", 64, 9, 7, 3, 3, 128, 3, 1, 1, 1, 1, 1, 1, 1, 2)
    database = sqlite3.connect(path)
    columns = ("direction,layout,data_type,in_channels,in_h,in_w,fil_h,fil_w,out_channels,"
               "batchsize,pad_h,pad_w,conv_stride_h,conv_stride_w,dilation_h,"
               "dilation_w,group_count,spatial_dim")
    database.execute(f"create table config(id integer primary key,{columns})")
    database.execute("create table perf_db(config,solver,params)")
    database.execute(f"insert into config values(1{',?' * 18})", values)
    database.execute("insert into perf_db values(1,?,?)",
                     (launches.GTC_FORWARD, TUNING))
    database.commit()
    tunings = launches.read_tunings(path)
    problem = parse_key("64-9-7-3x3-128-9-7-3-1x1-1x1-1x1-0-NHWC-FP16-F")
    tuning = launches.GtcTuning.parse(
        launches.find_tuning(tunings, launches.GTC_FORWARD, problem))
    name = tuning.get_kernel(3)
    expect(name, "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt128x64x32_wt32x32x8_ws1x1_"
           "wr2x1_ta1x4x2x1_1x8x1x32_tb1x4x1x1_1x8x1x32_vs1_gkgs", "kernel")
    expect(verify.parse_kernel_name(name), tuning, "the name says the tuning")
    launch = launches.gtc_launch(problem, tuning, 3)
    # 189 pixels in tiles of 128, 128 channels in tiles of 64, two splits.
    expect((launch.grid, launch.block), (2 * 2 * 2, 256), "grid")
    expect(launch.buffers[2], 3 * 9 * 7 * 128 * 4, "an f32 result")
    expect(launch.side_launches, 2, "zeroing and casting")
    expect(launches.magic(7), (2 ** 32 // 7 + 1, 3), "magic of 7")
    for divisor in (1, 2, 3, 5, 7, 63, 64, 189):
        number, shift = launches.magic(divisor)
        for value in (0, 1, 62, 63, 64, 1000, 99999):
            expect((value * number // 2 ** 32 + value) >> shift, value // divisor,
                   f"{value} / {divisor} by its magic number")
    other = parse_key("65-9-7-3x3-128-9-7-3-1x1-1x1-1x1-0-NHWC-FP16-F")
    expect(refusal_of(launches.find_tuning, tunings, launches.GTC_FORWARD, other),
           "no tuning in the perf database", "an unknown problem")


def check_winograd():
    """Backward data: dy is the kernel's data, and x its result."""
    key = "6-5-4-3x3-8-9-7-3-1x1-2x2-1x1-0-NCHW-FP32-B_g2"
    launch = launches.winograd_launch(parse_key(key), "f3x2", 10)
    expect((launch.kernel, launch.grid, launch.block),
           ("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_dilation2", 20, 512), "launch")
    expect([int(word[4:]) for word in launch.first],
           [3, 3, 5, 4, 4, 10, 0x4607, 0], "N C H W K, groups, flags")
    expect((launch.order, launch.output), ((2, 1, 0), 0), "y, w and x")
    expect([int(word[4:]) for word in launch.arguments[1:7]], [3, 3, 1, 1, 9, 7],
           "filter, pads, result")
    expect([int(word[4:]) for word in launch.arguments[14:30]],
           [120, 20, 4, 1, 9, 36, 3, 1, 504, 63, 7, 1, 2, 60, 108, 252], "strides")
    expect(refusal_of(launches.winograd_kernel, parse_key(key[:-4] + "W_g2"),
                      "f3x2"), "strides or dilations without a kernel", "W")
    expect(refusal_of(launches.find_tuning, {}, "ConvBinWinogradRxSf3x2",
                      parse_key(key)), "no tuning in the perf database", "tuning")


def check_statistic():
    expect(statistic.kendall([(1, 1), (2, 3), (3, 2)]), 1 / 3, "tau")
    expect(statistic.kendall([(1, 2), (2, 4), (3, 9)]), 1.0, "tau of one order")
    expect(statistic.median_error([(1, 2), (2, 1), (4, 4)]), 0.5, "median error")


def check_convolution():
    """The reference against a convolution of one pixel, worked by hand."""
    problem = parse_key("1-2-2-2x2-1-1-1-1-0x0-1x1-1x1-0-NCHW-FP32-F")
    total, magnitude = verify.convolve(problem, [[1, -2, 3, 4], [5, 6, 7, 8], [0]],
                                       2)
    expect((total, magnitude), ([5 - 12 + 21 + 32], [5 + 12 + 21 + 32]), "result")


def run():
    with tempfile.TemporaryDirectory() as folder:
        check_records(folder)
        check_gtc(folder)
    check_naive()
    check_winograd()
    check_statistic()
    check_convolution()
    print("selftest: passed")
