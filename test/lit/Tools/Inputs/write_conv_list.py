"""Prints the given number of small convolutions, with directions alternating."""
import sys

for number in range(int(sys.argv[1])):
    direction = ("fwd", "bwd", "wrw")[number % 3]
    print(f"conv-{direction}-f16-nhwc,nhwc,nhwc-n1c16h{8 + number}w8"
          "-k16y3x3-p1x1-s1x1-d1x1-g1")
