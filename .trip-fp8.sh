#!/usr/bin/env bash
# In an unpacked gpu-host bundle on the H100: verifies and times convolutions of 8-bit floats beside
# bf16. Writes fp8-trip.tsv (problem, direction, layout, operands, result, us, verdict, tile) and
# fp8-trip.log; ends by itself after LIMIT seconds (55), the most important runs come first.
# Results of before: tools/bench/results/h100/2026-11-27/float8.tsv.
export TESSERA_DEVICE=${TESSERA_DEVICE:-nvidia}
driver=${DRIVER:-bin/dnn-driver} limit=${LIMIT:-55}
out=fp8-trip.tsv log=fp8-trip.log
# The list conv-float8.txt in another order, judged by the rule of the specification (that of dnn-driver
# is wide for 8 bits): as many as fit SWEEP seconds (15).
sweep=${SWEEP:-15}
cat >fp8-list.txt <<'LIST'
conv-fwd-e5m2,bf16-nhwc,nhwc,nhwc-n2c3h32w32-k64y7x7-p3x3-s2x2-d1x1-g1
conv-fwd-e5m2fnuz,f32-nhwc,nhwc,nhwc-n3c384h23w17-k24y1x1-p0x1-s2x1-d1x1-g3-ealpha+bias+residual+tanh
conv-bwd-e5m2fnuz,f16-nhwc,nhwc,nhwc-n1c24h17w10-k8y4x1-p1x1-s1x1-d1x1-g1-ealpha+residual
conv-bwd-e5m2,f32-nchw,nchw,nchw-n5c136h5w20-k72y5x1-p3x1-s1x1-d1x3-g1-etanh
conv-fwd-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n2c3h32w32-k64y7x7-p3x3-s2x2-d1x1-g1
conv-bwd-e5m2,bf16-nchw,nchw,nchw-n2c120h22w23-k192y3x3-p1x3-s4x3-d1x3-g3
conv-bwd-e5m2,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e5m2fnuz,f16-nchw,nchw,nchw-n1c4h10w10-k4y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,bf16-nhwc,nhwc,nhwc-n2c960h19w9-k216y2x3-p1x0-s1x1-d1x1-g3
conv-fwd-e4m3fn,f16-ncdhw,ncdhw,ncdhw-n5c24d2h17w14-k24z2y3x4-p2x0x0-s1x1x3-d2x1x1-g1-erelu
conv-fwd-e4m3fn,bf16-nhwc,nhwc,nhwc-n1c40h23w11-k24y5x1-p3x1-s2x2-d1x1-g1-ealpha+relu
conv-fwd-e5m2fnuz,e5m2fnuz-nchw,nchw,nchw-n16c256h28w28-k512y3x3-p1x1-s1x1-d1x1-g32
conv-fwd-e5m2fnuz,e5m2fnuz-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e5m2,f16-nhwc,nhwc,nhwc-n5c384h17w10-k36y3x5-p0x0-s3x2-d1x1-g3-ebias+relu
conv-bwd-e4m3fnuz,e4m3fnuz-nchw,nchw,nchw-n64c1024h14w14-k256y1x1-p0x0-s1x1-d1x1-g1
conv-fwd-e4m3fn,f16-nchw,nchw,nchw-n3c72h6w19-k132y4x3-p0x0-s3x2-d1x1-g1-ebeta+residual
conv-bwd-e5m2,f16-ndhwc,ndhwc,ndhwc-n3c72d3h2w5-k8z1y3x2-p1x3x1-s1x2x2-d1x2x2-g1-ebeta+bias+residual
conv-bwd-e5m2,f32-nchw,nchw,nchw-n1c3h227w227-k1y7x7-p2x2-s1x1-d1x1-g1
conv-fwd-e5m2fnuz,e5m2fnuz-nhwc,nhwc,nhwc-n3c192h3w6-k192y1x2-p0x1-s1x1-d3x3-g3-erelu
conv-fwd-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n1c64h3w3-k1y3x3-p0x0-s1x1-d1x1-g1-ebeta
conv-wrw-e5m2,f32-ndhwc,ndhwc,ndhwc-n1c128d2h7w12-k64z3y3x3-p2x1x0-s1x2x1-d1x1x2-g1
conv-fwd-e4m3fnuz,bf16-nchw,nchw,nchw-n1c128h23w1-k96y1x1-p1x1-s1x3-d1x3-g1-ebeta
conv-wrw-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e4m3fn,bf16-nhwc,nhwc,nhwc-n1c40h8w15-k8y7x2-p1x1-s1x1-d1x1-g1-ealpha
conv-fwd-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n5c136h12w23-k16y3x3-p1x0-s2x2-d1x2-g1
conv-fwd-e4m3fn,e4m3fn-nchw,nchw,nchw-n16c3h64w128-k96y11x11-p0x0-s1x1-d1x1-g1
conv-fwd-e4m3fn,e4m3fn-nhwc,nhwc,nhwc-n2c128h14w14-k208y3x3-p1x1-s1x1-d1x1-g1-ebias+residual+relu
conv-fwd-e5m2,f16-nchw,nchw,nchw-n64c512h7w7-k128y3x3-p1x1-s1x1-d1x1-g4
conv-bwd-e4m3fnuz,bf16-nchw,nchw,nchw-n128c64h56w56-k64y1x1-p0x0-s1x1-d1x1-g1
conv-wrw-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n3c8h8w21-k384y1x1-p1x0-s2x1-d2x1-g1
conv-bwd-e4m3fn,bf16-nchw,nchw,nchw-n32c512h28w28-k1024y3x3-p1x1-s2x2-d1x1-g32
conv-fwd-e5m2fnuz,bf16-nchw,nchw,nchw-n5c256h12w13-k256y3x3-p1x2-s1x1-d1x1-g2
conv-fwd-e5m2fnuz,f16-nchw,nchw,nchw-n1c256h8w5-k128y3x1-p2x1-s2x1-d1x2-g2-eelu
conv-wrw-e5m2fnuz,bf16-nchw,nchw,nchw-n1c32h22w13-k80y5x2-p8x1-s2x1-d2x1-g2
conv-wrw-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n3c408h5w22-k288y3x1-p6x1-s3x1-d3x1-g3-ealpha
conv-bwd-e4m3fnuz,f16-nchw,nchw,nchw-n1c136h12w15-k24y3x2-p1x0-s1x1-d1x3-g1-ebias
conv-bwd-e4m3fn,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e5m2fnuz,e5m2fnuz-nchw,nchw,nchw-n1c24h23w14-k72y2x3-p2x0-s1x1-d1x1-g1-eelu
conv-bwd-e5m2,e5m2-nhwc,nhwc,nhwc-n3c24h14w10-k64y2x7-p2x3-s1x1-d2x1-g1-eresidual
conv-wrw-e5m2,f32-nhwc,nhwc,nhwc-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g8
conv-wrw-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n1c192h6w7-k216y2x3-p1x1-s3x1-d1x1-g3
conv-fwd-e5m2,f16-nhwc,nhwc,nhwc-n1c136h23w18-k128y2x1-p1x1-s1x2-d2x1-g1
conv-bwd-e5m2,e5m2-ndhwc,ndhwc,ndhwc-n5c72d2h2w16-k96z3y1x1-p1x1x0-s1x1x1-d1x1x2-g1-eelu
conv-wrw-e4m3fn,f16-ndhwc,ndhwc,ndhwc-n5c128d4h15w20-k80z1y2x2-p1x1x0-s1x1x1-d1x1x3-g2
conv-wrw-e4m3fnuz,f32-nhwc,nhwc,nhwc-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g8
conv-fwd-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n2c200h17w21-k72y1x1-p0x1-s1x2-d1x1-g1-ealpha
conv-wrw-e5m2,f32-nhwc,nhwc,nhwc-n5c64h14w21-k128y3x1-p1x1-s2x1-d1x2-g1
conv-bwd-e5m2fnuz,f16-nchw,nchw,nchw-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e5m2,e5m2-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e4m3fnuz,f16-nchw,nchw,nchw-n1c16h14w14-k48y5x5-p2x2-s1x1-d1x1-g1
conv-wrw-e4m3fnuz,e4m3fnuz-nchw,nchw,nchw-n16c1h48w480-k16y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,bf16-nchw,nchw,nchw-n1c120h22w12-k192y3x7-p0x6-s3x1-d3x2-g3
conv-bwd-e5m2fnuz,bf16-nchw,nchw,nchw-n128c1024h14w14-k256y1x1-p0x0-s1x1-d1x1-g1
conv-fwd-e4m3fnuz,bf16-nchw,nchw,nchw-n2c128h7w13-k256y2x7-p1x0-s1x1-d1x1-g2
conv-bwd-e4m3fn,bf16-nhwc,nhwc,nhwc-n5c72h12w6-k128y1x7-p1x2-s2x2-d1x1-g1-ebeta
conv-bwd-e5m2fnuz,e5m2fnuz-nchw,nchw,nchw-n5c16h13w14-k72y2x4-p1x4-s1x2-d1x2-g1-ebias
conv-bwd-e4m3fn,bf16-nhwc,nhwc,nhwc-n1c64h9w3-k16y1x3-p0x2-s2x4-d1x1-g1
conv-wrw-e4m3fn,bf16-nchw,nchw,nchw-n16c32h12w120-k64y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e5m2,bf16-nhwc,nhwc,nhwc-n1c72h5w10-k24y1x1-p0x2-s3x3-d2x3-g1-erelu
conv-wrw-e5m2fnuz,f32-nhwc,nhwc,nhwc-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g8
conv-fwd-e4m3fnuz,e4m3fnuz-nhwc,nhwc,nhwc-n2c128h14w14-k208y3x3-p1x1-s1x1-d1x1-g1-ebias+residual+relu
conv-wrw-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e4m3fn,bf16-nchw,nchw,nchw-n3c256h22w9-k384y1x1-p1x0-s1x1-d1x1-g2-eelu
conv-bwd-e4m3fnuz,f16-nchw,nchw,nchw-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,f32-nchw,nchw,nchw-n8c7h224w224-k63y3x3-p1x1-s2x2-d1x1-g7
conv-wrw-e4m3fn,e4m3fn-nchw,nchw,nchw-n15c128h10w10-k340y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e5m2fnuz,bf16-nchw,nchw,nchw-n16c192h17w17-k224y1x7-p0x3-s1x1-d1x1-g1
conv-bwd-e5m2fnuz,bf16-nchw,nchw,nchw-n16c192h28w28-k32y5x5-p2x2-s1x1-d1x1-g16
conv-fwd-e4m3fn,f32-nchw,nchw,nchw-n1c3h224w224-k1y3x3-p2x2-s1x1-d1x1-g1
conv-bwd-e5m2fnuz,f16-ncdhw,ncdhw,ncdhw-n16c128d4h56w56-k256z3y3x3-p1x2x3-s1x1x1-d1x2x3-g32
conv-fwd-e5m2,f32-nchw,nchw,nchw-n2c24h14w12-k24y7x7-p2x1-s2x1-d1x1-g1-ealpha+bias
conv-fwd-e4m3fnuz,e4m3fnuz-nhwc,nhwc,nhwc-n3c128h9w5-k128y3x1-p2x0-s1x3-d1x3-g1
conv-fwd-e5m2,e5m2-nchw,nchw,nchw-n128c64h56w56-k64y1x1-p0x0-s1x1-d1x1-g1
conv-fwd-e5m2fnuz,f32-nchw,nchw,nchw-n1c3h224w224-k1y7x7-p0x0-s4x4-d1x1-g1
conv-bwd-e4m3fn,f32-nhwc,nhwc,nhwc-n3c40h8w21-k40y3x2-p0x1-s1x1-d1x1-g1-eelu
conv-fwd-e5m2,bf16-nhwc,nhwc,nhwc-n3c72h3w18-k16y3x1-p2x0-s1x3-d1x2-g1-ealpha+relu
conv-wrw-e5m2fnuz,f32-nchw,nchw,nchw-n7c384h19w19-k256y1x3-p0x0-s3x1-d2x1-g2-ealpha
conv-wrw-e5m2,bf16-nchw,nchw,nchw-n4c32h79w341-k32y5x10-p0x0-s2x2-d1x1-g2
conv-wrw-e5m2fnuz,f32-ndhwc,ndhwc,ndhwc-n2c320d5h20w10-k128z3y3x1-p1x0x0-s1x1x1-d1x1x1-g1
conv-bwd-e5m2fnuz,f32-nchw,nchw,nchw-n64c512h14w14-k256y1x1-p0x0-s1x1-d1x1-g1
conv-fwd-e4m3fn,f32-nhwc,nhwc,nhwc-n2c128h1w2-k5y1x1-p1x1-s2x2-d1x2-g1-eabs
conv-fwd-e5m2fnuz,f32-ndhwc,ndhwc,ndhwc-n2c192d2h11w16-k576z1y2x3-p1x1x0-s3x1x2-d1x1x1-g3
conv-fwd-e4m3fn,f32-nhwc,nhwc,nhwc-n5c64h15w15-k264y5x2-p2x1-s2x1-d1x1-g1-etanh
conv-bwd-e5m2fnuz,e5m2fnuz-nchw,nchw,nchw-n16c1h161w700-k32y5x20-p0x0-s2x2-d1x1-g1
conv-wrw-e5m2fnuz,e5m2fnuz-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e4m3fnuz,e4m3fnuz-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e4m3fnuz,bf16-nchw,nchw,nchw-n8c3h108w108-k63y3x3-p1x1-s2x2-d1x1-g3
conv-bwd-e5m2,bf16-nhwc,nhwc,nhwc-n1c8h3w10-k24y3x1-p4x0-s1x1-d2x1-g1
conv-fwd-e5m2,e5m2-nchw,nchw,nchw-n2c72h13w6-k264y1x7-p1x4-s1x3-d1x2-g1-ealpha
conv-wrw-e4m3fnuz,f16-nhwc,nhwc,nhwc-n16c256h19w5-k256y5x3-p0x1-s3x1-d3x1-g2
conv-fwd-e5m2,bf16-nchw,nchw,nchw-n128c256h56w56-k64y1x1-p0x0-s1x1-d1x1-g1
conv-bwd-e4m3fn,f16-nchw,nchw,nchw-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1
conv-fwd-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n2c3h32w32-k64y7x7-p3x3-s2x2-d1x1-g1
conv-fwd-e4m3fnuz,f16-nhwc,nhwc,nhwc-n1c200h11w12-k40y3x2-p4x1-s3x1-d2x1-g1-etanh
conv-wrw-e5m2fnuz,f16-nhwc,nhwc,nhwc-n16c64h17w19-k200y7x3-p0x0-s1x1-d1x3-g1
conv-fwd-e4m3fn,bf16-nchw,nchw,nchw-n128c768h17w17-k256y3x3-p1x1-s1x1-d2x2-g1
conv-wrw-e5m2fnuz,e5m2fnuz-nhwc,nhwc,nhwc-n2c320h14w9-k128y3x3-p1x2-s1x1-d3x1-g1-ealpha
conv-fwd-e5m2,e5m2-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fnuz,e4m3fnuz-nchw,nchw,nchw-n2c136h3w3-k96y2x3-p1x3-s1x1-d2x3-g1
conv-bwd-e4m3fnuz,bf16-nchw,nchw,nchw-n2c256h20w12-k8y1x7-p2x4-s1x1-d3x2-g1-etanh
conv-wrw-e5m2,e5m2-nhwc,nhwc,nhwc-n1c80h18w14-k128y2x4-p1x1-s1x1-d3x2-g2
conv-fwd-e5m2,f32-nchw,nchw,nchw-n64c64h28w28-k16y1x1-p0x0-s1x1-d1x1-g1
conv-wrw-e4m3fn,f32-nhwc,nhwc,nhwc-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g8
conv-bwd-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fnuz,e4m3fnuz-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e5m2,bf16-nhwc,nhwc,nhwc-n1c144h12w3-k256y3x1-p1x0-s1x2-d2x1-g2-ealpha
conv-fwd-e4m3fnuz,f16-ncdhw,ncdhw,ncdhw-n16c128d56h56w56-k256z3y3x3-p1x2x3-s1x1x1-d1x2x3-g32
conv-wrw-e5m2fnuz,f16-nchw,nchw,nchw-n4c32h79w141-k64y5x10-p0x0-s2x2-d1x1-g1
conv-fwd-e4m3fn,e4m3fn-nhwc,nhwc,nhwc-n2c256h12w4-k384y1x2-p0x2-s1x3-d1x1-g2-eelu
conv-bwd-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n2c64h13w14-k72y3x1-p0x0-s2x2-d3x2-g1
conv-wrw-e5m2,f16-nchw,nchw,nchw-n16c136h8w10-k8y7x2-p1x1-s3x1-d1x1-g1
conv-wrw-e4m3fn,f16-nchw,nchw,nchw-n64c64h17w17-k192y7x1-p3x0-s1x1-d1x1-g1
conv-fwd-e4m3fnuz,f32-nhwc,nhwc,nhwc-n2c8h3w20-k128y2x3-p1x1-s1x1-d1x3-g1-ebias+residual
conv-bwd-e4m3fn,e4m3fn-ncdhw,ncdhw,ncdhw-n2c136d1h19w20-k24z2y7x4-p1x0x2-s1x1x1-d1x1x3-g1-ealpha+relu
conv-wrw-e5m2,bf16-nchw,nchw,nchw-n128c128h17w17-k128y7x1-p3x0-s1x1-d1x1-g1
conv-bwd-e4m3fn,e4m3fn-nchw,nchw,nchw-n2c8h15w20-k96y2x3-p1x2-s1x1-d1x2-g1-ebias+residual
conv-fwd-e4m3fn,bf16-nhwc,nhwc,nhwc-n2c3h32w32-k64y7x7-p3x3-s2x2-d1x1-g1
conv-wrw-e4m3fnuz,f32-nchw,nchw,nchw-n1c3h224w224-k1y3x3-p0x0-s4x4-d1x1-g1
conv-fwd-e5m2,bf16-nchw,nchw,nchw-n8c64h112w112-k128y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e4m3fn,f16-nchw,nchw,nchw-n1c32h14w14-k1y5x5-p0x0-s4x4-d1x1-g1
conv-wrw-e5m2,bf16-nchw,nchw,nchw-n3c144h22w18-k144y5x7-p1x3-s1x1-d2x1-g2
conv-fwd-e5m2,bf16-ndhwc,ndhwc,ndhwc-n2c24d1h2w5-k12z3y2x1-p2x2x1-s1x2x3-d1x2x3-g1-ebeta+bias
conv-wrw-e4m3fnuz,f32-nhwc,nhwc,nhwc-n7c128h15w23-k64y1x3-p2x2-s3x1-d1x1-g1
conv-fwd-e5m2,e5m2-nhwc,nhwc,nhwc-n2c128h14w14-k208y3x3-p1x1-s1x1-d1x1-g1-ebias+residual+relu
conv-bwd-e5m2,e5m2-nchw,nchw,nchw-n128c320h1w7-k256y1x1-p0x0-s1x1-d1x1-g1
conv-wrw-e4m3fnuz,f32-ncdhw,ncdhw,ncdhw-n1c72d4h5w13-k24z3y3x3-p3x2x4-s1x2x3-d3x1x2-g3
conv-bwd-e5m2,f16-nchw,nchw,nchw-n4c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,e4m3fn-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e4m3fnuz,f32-nchw,nchw,nchw-n64c1536h8w8-k256y1x1-p0x0-s1x1-d1x1-g1
conv-fwd-e4m3fnuz,bf16-nchw,nchw,nchw-n1c256h28w28-k80y1x1-p0x0-s1x1-d1x1-g1
conv-bwd-e4m3fnuz,e4m3fnuz-nhwc,nhwc,nhwc-n1c16h22w11-k64y1x3-p1x1-s1x1-d3x3-g1
conv-wrw-e4m3fn,e4m3fn-nhwc,nhwc,nhwc-n1c64h128w97-k64y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,f32-nchw,nchw,nchw-n5c192h14w3-k1600y4x3-p2x0-s1x1-d1x1-g8
conv-bwd-e4m3fnuz,f16-nchw,nchw,nchw-n64c64h17w17-k192y3x7-p0x3-s1x1-d1x1-g1
conv-bwd-e4m3fn,f16-ndhwc,ndhwc,ndhwc-n1c40d6h1w6-k40z1y1x2-p0x0x2-s1x1x1-d1x3x3-g1-eresidual
conv-fwd-e4m3fn,e4m3fn-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e5m2,bf16-nhwc,nhwc,nhwc-n4c128h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
conv-bwd-e4m3fnuz,bf16-nhwc,nhwc,nhwc-n2c16h7w16-k40y5x3-p3x1-s1x1-d1x1-g1-ebeta+bias+elu
conv-fwd-e5m2fnuz,e5m2fnuz-nhwc,nhwc,nhwc-n2c128h14w14-k208y3x3-p1x1-s1x1-d1x1-g1-ebias+residual+relu
conv-bwd-e4m3fnuz,f32-nhwc,nhwc,nhwc-n5c64h7w8-k136y2x1-p2x0-s1x1-d1x3-g1-eelu
conv-wrw-e5m2fnuz,bf16-nchw,nchw,nchw-n16c512h14w14-k48y1x1-p0x0-s1x1-d1x1-g1
conv-bwd-e4m3fnuz,e4m3fnuz-nhwc,nhwc,nhwc-n3c64h6w4-k136y1x4-p1x4-s2x2-d1x2-g1-ebeta+bias
conv-bwd-e4m3fnuz,bf16-nchw,nchw,nchw-n16c256h28w28-k512y3x3-p1x1-s1x1-d1x1-g1
conv-wrw-e4m3fn,bf16-nchw,nchw,nchw-n128c128h28w28-k512y1x1-p0x0-s1x1-d1x1-g1
conv-bwd-e5m2fnuz,bf16-nhwc,nhwc,nhwc-n3c16h2w7-k16y2x1-p2x0-s1x1-d1x1-g1-etanh
conv-fwd-e5m2,f16-nchw,nchw,nchw-n400c256h7w7-k1024y7x7-p0x0-s1x1-d1x1-g1
LIST
timeout "$sweep" "${SWEEPER:-bin/dnn-sweep}" --list fp8-list.txt >fp8-sweep.log 2>&1
echo "dnn-sweep: exit $? (124: time over); $(tail -1 fp8-sweep.log)"
grep -iE 'fail|wrong|differ' fp8-sweep.log | head -5
: >"$log"
echo -e "problem\tdirection\tlayout\toperands\tresult\tus\tverdict\ttile" | tee "$out"
declare -A operation=([bf16]=convbfp16 [e4m3fn]=convfp8ocp [e5m2]=convbfp8ocp [e4m3fnuz]=convfp8 [e5m2fnuz]=convbfp8)
declare -A word=([fwd]=1 [bwd]=2 [wrw]=4)
left_out=0
# run DIRECTION LAYOUT TYPE RESULT VERIFY "FLAGS" [EPILOGUE]; RESULT is bfp16, fp32, fp16 or same.
run() {
  local direction=$1 layout=$2 type=$3 result=$4 verify=$5 flags=$6 epilogue=$7
  if ((SECONDS > limit)); then ((++left_out)); return; fi
  local args=("${operation[$type]}" $flags --in_layout "$layout" --out_layout "$layout" --fil_layout "$layout"
    -F "${word[$direction]}" -V "$verify" -t 1 -i ${ITERATIONS:-30} --kernel-info 1)
  [[ $type == bf16 || $result == same ]] || args+=(--result_type "$result")
  [[ -z $epilogue ]] || args+=(--epilogue "$epilogue")
  local text us tile verdict
  text=$(timeout 12 "$driver" "${args[@]}" 2>&1)
  local status=$?
  { echo "== ${args[*]}"; echo "$text"; } >>"$log"
  us=$(sed -nE 's/.*Elapsed: ([0-9.]+) ms.*/\1/p' <<<"$text" | head -1 | awk '{printf "%.1f", $1 * 1000}')
  tile=$(sed -nE 's/.*tile ([^ ,]+).*/\1/p' <<<"$text" | head -1)
  verdict=-
  [[ $verify == 0 ]] || verdict=$(grep -oE 'Verifies OK|FAILED|Failed' <<<"$text" | head -1)
  [[ $status == 0 ]] || verdict="EXIT$status"
  echo -e "${flags// /}${epilogue:+ $epilogue}\t$direction\t$layout\t$type\t$result\t${us:--}\t${verdict:-NONE}\t${tile:--}" | tee -a "$out"
}
A="-n 32 -c 256 -H 28 -W 28 -k 256 -y 3 -x 3 -p 1 -q 1"
B="-n 64 -c 256 -H 14 -W 14 -k 256 -y 3 -x 3 -p 1 -q 1"
C="-n 16 -c 512 -H 64 -W 64 -k 512 -y 3 -x 3 -p 1 -q 1"
D="-n 64 -c 128 -H 56 -W 56 -k 128 -y 3 -x 3 -p 1 -q 1"
P="-n 32 -c 256 -H 28 -W 28 -k 1024 -y 1 -x 1"
S="-n 32 -c 256 -H 56 -W 56 -k 256 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2"
O="-n 3 -c 80 -H 17 -W 15 -k 208 -y 3 -x 3 -p 1 -q 1"
# Results of 8 bits with tensors of 8 bits, odd sizes: verified only.
run fwd NHWC e4m3fn same 1 "${O/-c 80/-c 128}" bias+residual+relu
run bwd NHWC e5m2fnuz same 1 "$O" bias+residual
run wrw NCHW e4m3fnuz same 1 "$O"
# Backward weights, each of the four, and FNUZ in each direction.
for type in bf16 e4m3fn e5m2 e4m3fnuz e5m2fnuz; do run wrw NHWC $type bfp16 1 "$A"; done
for direction in fwd bwd; do
  run $direction NHWC bf16 bfp16 0 "$A"
  for type in e4m3fn e4m3fnuz; do
    run $direction NHWC $type bfp16 1 "$A"
    run $direction NHWC $type same 1 "$A"
  done
done
for problem in "$B" "$C" "$D"; do
  run wrw NHWC bf16 bfp16 0 "$problem"
  run wrw NHWC e4m3fn bfp16 1 "$problem"
done
for direction in fwd bwd wrw; do
  run $direction NCHW bf16 bfp16 0 "$A"
  run $direction NCHW e4m3fn bfp16 1 "$A"
  run $direction NCHW e4m3fnuz bfp16 1 "$A"
done
for direction in fwd bwd wrw; do
  run $direction NHWC bf16 bfp16 0 "$S"
  run $direction NHWC e5m2fnuz bfp16 1 "$S"
done
for direction in fwd wrw; do
  run $direction NHWC bf16 bfp16 0 "$P"
  run $direction NHWC e4m3fn bfp16 1 "$P"
  run $direction NHWC e4m3fnuz bfp16 1 "$P"
done
for direction in fwd bwd; do
  run $direction NHWC bf16 bfp16 0 "$C"
  run $direction NHWC e4m3fnuz bfp16 1 "$C"
  run $direction NHWC e5m2 same 1 "$C"
done
echo "$SECONDS s; $left_out runs left out" | tee -a "$log"
awk -F'\t' 'NR > 1 && $7 != "Verifies OK" && $7 != "-" {bad = 1} END {exit bad}' "$out"
