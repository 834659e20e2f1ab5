//===- VectorInteger.cpp - Integer and bit vector instructions ------------===//

#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using U = uint32_t;
using I = int32_t;
using S = uint16_t;
using T = int16_t;
using L = uint64_t;

static U mask24(U value) { return value & 0xffffff; }
static I sign24(U value) { return static_cast<I>(value << 8) >> 8; }

static void addMoves(OpcodeTable &table) {
  addVector<[](U a) { return a; }>(table, "v_mov_b32");
  addVector<[](L a) { return a; }>(table, "v_mov_b64");
  addVector<[](U a) { return a; }>(
      table, {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32",
              "v_accvgpr_read", "v_accvgpr_write"});
  addVector<[](U a, U b, MaskLane m) { return (b & m.bits) | (a & ~m.bits); }>(
      table, "v_cndmask_b32");
  addVector<[](U a) { return ~a; }>(table, "v_not_b32");
  addVector<[](U a) { return __builtin_bitreverse32(a); }>(table,
                                                           "v_bfrev_b32");
}

static void addArithmetic(OpcodeTable &table) {
  addVector<[](U a, U b, U c) { return a + b + c; }>(table, "v_add3_u32");
  addVector<[](U a, U b, U c) { return (a << (b & 31)) + c; }>(
      table, "v_lshl_add_u32");
  addVector<[](L a, U b, L c) { return (a << (b & 7)) + c; }>(table,
                                                              "v_lshl_add_u64");
  addVector<[](U a, U b, U c) { return (a + b) << (c & 31); }>(
      table, "v_add_lshl_u32");
  addVector<[](U a, U b, U c) { return (a ^ b) + c; }>(table, "v_xad_u32");
  addVector<[](U a, U b) { return a * b; }>(table,
                                            {"v_mul_lo_u32", "v_mul_lo_i32"});
  addVector<[](U a, U b) { return static_cast<U>(L(a) * b >> 32); }>(
      table, "v_mul_hi_u32");
  addVector<[](I a, I b) { return static_cast<I>(int64_t(a) * b >> 32); }>(
      table, "v_mul_hi_i32");
  addVector<[](U a, U b) {
    return static_cast<U>(L(mask24(a)) * mask24(b) >> 32);
  }>(table, "v_mul_hi_u32_u24");
  addVector<[](U a, U b) {
    return static_cast<U>(int64_t(sign24(a)) * sign24(b) >> 32);
  }>(table, "v_mul_hi_i32_i24");
}

/// Adds what "clamp" saturates. LLVM uses it for uadd.sat and its kin.
static void addClampable(OpcodeTable &table) {
  constexpr auto kAdd = [](int64_t a, int64_t b) { return a + b; };
  constexpr auto kSub = [](int64_t a, int64_t b) { return a - b; };
  constexpr auto kReverse = [](int64_t a, int64_t b) { return b - a; };
  constexpr auto kMad = [](int64_t a, int64_t b, int64_t c) {
    return a * b + c;
  };
  addSaturating<kAdd, U, U, U>(table, {"v_add_u32", "v_add_nc_u32"});
  addSaturating<kSub, U, U, U>(table, {"v_sub_u32", "v_sub_nc_u32"});
  addSaturating<kReverse, U, U, U>(table, {"v_subrev_u32", "v_subrev_nc_u32"});
  addSaturating<kAdd, I, I, I>(table, {"v_add_i32", "v_add_nc_i32"});
  addSaturating<kSub, I, I, I>(table, {"v_sub_i32", "v_sub_nc_i32"});
  addSaturating<kAdd, S, S, S>(table, {"v_add_u16", "v_add_nc_u16"});
  addSaturating<kSub, S, S, S>(table, {"v_sub_u16", "v_sub_nc_u16"});
  addSaturating<kReverse, S, S, S>(table, {"v_subrev_u16"});
  addSaturating<kAdd, T, T, T>(table, {"v_add_i16", "v_add_nc_i16"});
  addSaturating<kSub, T, T, T>(table, {"v_sub_i16", "v_sub_nc_i16"});
  addSaturating<kMad, S, S, S, S>(table, {"v_mad_u16", "v_mad_legacy_u16"});
  addSaturating<kMad, T, T, T, T>(table, {"v_mad_i16", "v_mad_legacy_i16"});
  addSaturating<kMad, U, S, S, U>(table, {"v_mad_u32_u16"});
  addSaturating<kMad, I, T, T, I>(table, {"v_mad_i32_i16"});
  addSaturating<[](int64_t a, int64_t b) {
    return int64_t(mask24(U(a))) * mask24(U(b));
  },
                U, U, U>(table, {"v_mul_u32_u24"});
  addSaturating<[](int64_t a, int64_t b) {
    return int64_t(sign24(U(a))) * sign24(U(b));
  },
                I, U, U>(table, {"v_mul_i32_i24"});
  addSaturating<[](int64_t a, int64_t b, int64_t c) {
    return int64_t(mask24(U(a))) * mask24(U(b)) + c;
  },
                U, U, U, U>(table, {"v_mad_u32_u24"});
  addSaturating<[](int64_t a, int64_t b, int64_t c) {
    return int64_t(sign24(U(a))) * sign24(U(b)) + c;
  },
                I, U, U, I>(table, {"v_mad_i32_i24"});
}

static void addLogic(OpcodeTable &table) {
  addVector<[](U a, U b) { return a & b; }>(table, "v_and_b32");
  addVector<[](U a, U b) { return a | b; }>(table, "v_or_b32");
  addVector<[](U a, U b) { return a ^ b; }>(table, "v_xor_b32");
  addVector<[](U a, U b) { return ~(a ^ b); }>(table, "v_xnor_b32");
  addVector<[](U a, U b, U c) { return (a & b) | c; }>(table, "v_and_or_b32");
  addVector<[](U a, U b, U c) { return a | b | c; }>(table, "v_or3_b32");
  addVector<[](U a, U b, U c) { return a ^ b ^ c; }>(table, "v_xor3_b32");
  addVector<[](U a, U b, U c) { return (a << (b & 31)) | c; }>(table,
                                                               "v_lshl_or_b32");
  addVector<[](U a, U b) { return b << (a & 31); }>(table, "v_lshlrev_b32");
  addVector<[](U a, U b) { return b >> (a & 31); }>(table, "v_lshrrev_b32");
  addVector<[](U a, I b) { return b >> (a & 31); }>(table, "v_ashrrev_i32");
  addVector<[](U a, L b) { return b << (a & 63); }>(table, "v_lshlrev_b64");
  addVector<[](U a, L b) { return b >> (a & 63); }>(table, "v_lshrrev_b64");
  addVector<[](U a, int64_t b) { return b >> (a & 63); }>(table,
                                                          "v_ashrrev_i64");
  addVector<[](U a, U b, U c) { return (a & b) | (~a & c); }>(table,
                                                              "v_bfi_b32");
  addVector<[](U a, U b, U c) {
    return a >> (b & 31) & ((1u << (c & 31)) - 1);
  }>(table, "v_bfe_u32");
  addVector<[](U a, U b, U c) {
    U width = c & 31;
    U field = a >> (b & 31) & ((1u << width) - 1);
    U sign = width ? 1u << (width - 1) : 0;
    return (field ^ sign) - sign;
  }>(table, "v_bfe_i32");
  addVector<[](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); }>(
      table, "v_bfm_b32");
  // The count is 16 bits wide where operands can be halves of a register.
  addVector<[](U a, U b, S c) {
    return static_cast<U>((L(a) << 32 | b) >> (c & 31));
  }>(table, "v_alignbit_b32");
  addVector<[](U a, U b, S c) {
    return static_cast<U>((L(a) << 32 | b) >> (8 * (c & 3)));
  }>(table, "v_alignbyte_b32");
}

static U permuteBytes(U a, U b, U selectors) {
  L bytes = L(a) << 32 | b;
  U result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    U select = selectors >> (8 * i) & 0xff;
    U byte = 0xff;
    if (select < 8)
      byte = static_cast<U>(bytes >> (8 * select)) & 0xff;
    else if (select < 12)
      byte = bytes >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    else if (select == 12)
      byte = 0;
    result |= byte << (8 * i);
  }
  return result;
}

static U sumOfDifferences(U a, U b, U c, U byteMask) {
  U sum = c;
  for (unsigned i = 0; i < 4; ++i) {
    I x = static_cast<I>(a >> (8 * i) & 0xff);
    I y = static_cast<I>(b >> (8 * i) & 0xff);
    if (byteMask >> i & 1)
      sum += static_cast<U>(x > y ? x - y : y - x);
  }
  return sum;
}

/// Returns one bit for each byte that is not 0.
static U getPresentBytes(U value) {
  U present = 0;
  for (unsigned i = 0; i < 4; ++i)
    present |= U((value >> (8 * i) & 0xff) != 0) << i;
  return present;
}

/// Computes four sums of 16 bits: those of |a - b| for a window of bytes that
/// slides over a.
static L slideDifferences(L a, U b, L c, bool skipsZero) {
  U byteMask = skipsZero ? getPresentBytes(b) : 15;
  L result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    U sum = sumOfDifferences(static_cast<U>(a >> (8 * i)), b,
                             static_cast<uint16_t>(c >> (16 * i)), byteMask);
    result |= L(sum & 0xffff) << (16 * i);
  }
  return result;
}

static void addBits(OpcodeTable &table) {
  addVector<[](U a, U b) { return static_cast<U>(std::popcount(a)) + b; }>(
      table, "v_bcnt_u32_b32");
  addVector<[](U a) { return a ? std::countl_zero(a) : -1; }>(
      table, {"v_ffbh_u32", "v_clz_i32_u32"});
  addVector<[](U a) { return a ? std::countr_zero(a) : -1; }>(
      table, {"v_ffbl_b32", "v_ctz_i32_b32"});
  addVector<[](I a) {
    auto folded = static_cast<U>(a < 0 ? ~a : a);
    return folded ? std::countl_zero(folded) : -1;
  }>(table, {"v_ffbh_i32", "v_cls_i32"});
  addVector<[](U a, U b, U c) { return permuteBytes(a, b, c); }>(table,
                                                                 "v_perm_b32");
  addVector<[](U a, U b, U c) { return sumOfDifferences(a, b, c, 15); }>(
      table, "v_sad_u8");
  addVector<[](U a, U b, U c) {
    return sumOfDifferences(a, b, c, getPresentBytes(b));
  }>(table, "v_msad_u8");
  addVector<[](U a, U b, U c) { return (a > b ? a - b : b - a) + c; }>(
      table, "v_sad_u32");
  addVector<[](U a, U b, U c) {
    return (sumOfDifferences(a, b, 0, 15) << 16) + c;
  }>(table, "v_sad_hi_u8");
  addVector<[](U a, U b, U c) {
    auto distance = [](U x, U y) { return x > y ? x - y : y - x; };
    return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c;
  }>(table, "v_sad_u16");
  addVector<[](L a, U b, L c) { return slideDifferences(a, b, c, false); }>(
      table, "v_qsad_pk_u16_u8");
  addVector<[](L a, U b, L c) { return slideDifferences(a, b, c, true); }>(
      table, "v_mqsad_pk_u16_u8");
  addVector<[](U a, U b, U c) {
    U result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      U sum =
          (a >> (8 * i) & 0xff) + (b >> (8 * i) & 0xff) + (c >> (8 * i) & 1);
      result |= sum >> 1 << (8 * i);
    }
    return result;
  }>(table, "v_lerp_u8");
}

template <typename V>
static V smaller(V a, V b) {
  return a < b ? a : b;
}
template <typename V>
static V larger(V a, V b) {
  return a > b ? a : b;
}
template <typename V>
static V middle(V a, V b, V c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

template <typename V>
static void addOrder(OpcodeTable &table, const std::string &type) {
  auto add = [&]<auto Fn>(const char *stem) {
    addVector<Fn>(table, (stem + type).c_str());
  };
  add.template operator()<[](V a, V b) { return smaller(a, b); }>("v_min_");
  add.template operator()<[](V a, V b) { return larger(a, b); }>("v_max_");
  add.template operator()<[](V a, V b, V c) {
    return smaller(smaller(a, b), c);
  }>("v_min3_");
  add.template
  operator()<[](V a, V b, V c) { return larger(larger(a, b), c); }>("v_max3_");
  add.template operator()<[](V a, V b, V c) { return middle(a, b, c); }>(
      "v_med3_");
  add.template operator()<[](V a, V b, V c) {
    return larger(smaller(a, b), c);
  }>("v_minmax_");
  add.template operator()<[](V a, V b, V c) {
    return smaller(larger(a, b), c);
  }>("v_maxmin_");
}

static void addShorts(OpcodeTable &table) {
  addVector<[](S a, S b) { return static_cast<S>(U(a) * b); }>(table,
                                                               "v_mul_lo_u16");
  addVector<[](S a, S b) { return static_cast<S>(b << (a & 15)); }>(
      table, "v_lshlrev_b16");
  addVector<[](S a, S b) { return static_cast<S>(b >> (a & 15)); }>(
      table, "v_lshrrev_b16");
  addVector<[](S a, T b) { return static_cast<T>(b >> (a & 15)); }>(
      table, "v_ashrrev_i16");
  addVector<[](S a) { return a; }>(table, "v_mov_b16");
  addVector<[](S a) { return static_cast<S>(~a); }>(table, "v_not_b16");
  addVector<[](S a, S b, MaskLane m) {
    return static_cast<S>((b & m.bits) | (a & ~m.bits));
  }>(table, "v_cndmask_b16");
  addVector<[](S a, S b) { return static_cast<S>(a & b); }>(table, "v_and_b16");
  addVector<[](S a, S b) { return static_cast<S>(a | b); }>(table, "v_or_b16");
  addVector<[](S a, S b) { return static_cast<S>(a ^ b); }>(table, "v_xor_b16");
}

void tessera::emulator::addVectorInteger(OpcodeTable &table) {
  addMoves(table);
  addArithmetic(table);
  addClampable(table);
  addLogic(table);
  addBits(table);
  addShorts(table);
  addOrder<U>(table, "u32");
  addOrder<I>(table, "i32");
  addOrder<S>(table, "u16");
  addOrder<T>(table, "i16");
}
