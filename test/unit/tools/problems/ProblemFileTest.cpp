//===- ProblemFileTest.cpp - Reading lists, logs and databases ------------===//

#include "tools/problems/ProblemFile.h"

#include "runtime/Db/Sqlite.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera;

namespace {
/// Writes a file with the given content and reads it.
class ProblemFiles : public testing::Test {
protected:
  ErrorOr<ProblemFile> read(const std::string &text) {
    directory.write("file", text);
    return readProblems(directory.get("file"), options);
  }

  /// Prints "CONFIG *COUNT @SOURCE" for each problem, the source without its
  /// folder.
  std::vector<std::string> list(const std::string &text) {
    ErrorOr<ProblemFile> file = read(text);
    EXPECT_TRUE(file) << file.getStatus().getMessage();
    std::vector<std::string> lines;
    if (!file)
      return lines;
    for (const ListedProblem &listed : file->problems)
      lines.push_back(listed.problem.toNetworkConfig() + " *" +
                      std::to_string(listed.count) + " @" +
                      listed.source.substr(directory.getPath().size() + 1));
    return lines;
  }

  std::string refuse(const std::string &text) {
    ErrorOr<ProblemFile> file = read(text);
    EXPECT_FALSE(file);
    return file.getStatus().getMessage();
  }

  test::TemporaryDirectory directory;
  ProblemFileOptions options;
};

using Lines = std::vector<std::string>;
} // namespace

static const std::string kForward =
    "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1";
static const std::string kBackward =
    "conv-bwd-f16-nhwc,nhwc,nhwc-n1c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1";
static const std::string kPlain =
    "-f32-nchw,nchw,nchw-n1c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1";
static const std::string kFlags = "-n 1 -c 8 -H 4 -W 4 -k 8 -y 1 -x 1";

// A line has a config or a command; a name or a count may precede it, a count
// or a comment may follow.
TEST_F(ProblemFiles, Lists) {
  EXPECT_EQ(list("# two problems\n\n" + kForward + "\nlayer1 " + kBackward +
                 " 3\n2 conv " + kFlags + " -F 1  # the first\n"),
            (Lines{kForward + " *1 @file:3", kBackward + " *3 @file:4",
                   "conv-fwd" + kPlain + " *2 @file:5"}));
  EXPECT_EQ(list("pool -W 1x4x8x8 -y 2 -x 2 -F 1\r\n"),
            (Lines{"pool-fwd-max-f32-nchw,nchw-n1c4h8w8-y2x2-p0x0-s1x1-inone "
                   "*1 @file:1"}));
  EXPECT_EQ(list("conv1 convfp16 " + kFlags + " -F 1 -I NHWC -f NHWC -O NHWC"),
            (Lines{kForward + " *1 @file:1"}));
}

// Every operation that dnn-driver has may begin a line.
TEST_F(ProblemFiles, Operations) {
  EXPECT_EQ(
      list("softmaxfp16 -n 2 -c 8 -H 1 -W 1 -F 1\nsum 3 reduce -D 4,6 -R 1\n"
           "bnorm -n 2 -c 4 -H 3 -W 3 -m 1 -F 2\nlayernorm -X 4x8 -o 1\n"
           "softmax_row rowwise-softmax_fwd-m1-2x8-r1-i:f16:8:1-o:f16:8:1\n"),
      (Lines{"rowwise-softmax_fwd-m1-2x8-r1-i:f16:8:1-o:f16:8:1 *2 @file:1",
             "rowwise-reduce-m0-4x6-r1-i:f32:6:1-r:f32:1:0 *3 @file:2",
             "rowwise-bnorm_infer-m0-2x4x9-r-i:f32:36:9:1-i:f32:0:1:0-"
             "i:f32:0:1:0-i:f32:0:1:0-i:f32:0:1:0-o:f32:36:9:1 *1 @file:3",
             "rowwise-norm_fwd-m24-4x8-r1-i:f32:8:1-r:f32:1:0-r:f32:1:0-"
             "o:f32:8:1 *1 @file:4"}));
}

// A command without a direction means all of them, as in MIOpenDriver.
TEST_F(ProblemFiles, AllDirections) {
  EXPECT_EQ(list("conv " + kFlags),
            (Lines{"conv-fwd" + kPlain + " *1 @file:1",
                   "conv-bwd" + kPlain + " *1 @file:1",
                   "conv-wrw" + kPlain + " *1 @file:1"}));
}

// Flags without an operation have the type that the reader is told.
TEST_F(ProblemFiles, FlagsAlone) {
  EXPECT_EQ(list("# name: flags\nstem: " + kFlags + " -F 1\n"),
            (Lines{"conv-fwd" + kPlain + " *1 @file:2"}));
  options.dataType = DataType::BF16;
  EXPECT_EQ(list(kFlags + " -F 1\n"),
            (Lines{"conv-fwd-bf16-nchw,nchw,nchw-n1c8h4w4-k8y1x1-p0x0-s1x1-"
                   "d1x1-g1 *1 @file:1"}));
}

// The same problem in other words counts as a repetition.
TEST_F(ProblemFiles, Repetitions) {
  EXPECT_EQ(
      list("conv " + kFlags + " -F 1\n3 conv " + kFlags +
           " --forw 1 -p 0 -g 1 -V 0\nconv-fwd" + kPlain + "\n" + kForward),
      (Lines{"conv-fwd" + kPlain + " *5 @file:1", kForward + " *1 @file:4"}));
}

// The commands of a log, MIOpen's or ours, are read; other output of a program
// is ignored, even if it resembles a problem.
TEST_F(ProblemFiles, Logs) {
  ErrorOr<ProblemFile> file =
      read("Epoch 1: loss 0.3\n"
           "conv layers: 53\n- pooling\nMIOPEN_LOG_LEVEL=4\n"
           "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver "
           "convfp16 " +
           kFlags +
           " -u 1 -v 1 -l 1 -j 1 --in_layout NHWC --fil_layout NHWC "
           "--out_layout NHWC -m conv -g 1 -F 2 -t 1 -S 85\n"
           "Command [LogCmdConvolution] ./bin/MIOpenDriver convfp16 " +
           kFlags +
           " --in_layout NHWC --fil_layout NHWC --out_layout NHWC -F 2\n"
           "MIOpen(HIP): Command [LogCmdLRN] ./bin/MIOpenDriver lrn -n 1\n"
           "MIOpen(HIP): Command [LogCmdLRN] ./bin/MIOpenDriver lrn -n 2\n");
  ASSERT_TRUE(file) << file.getStatus().getMessage();
  ASSERT_EQ(file->problems.size(), 1u);
  EXPECT_EQ(file->problems[0].problem.toNetworkConfig(), kBackward);
  EXPECT_EQ(file->problems[0].count, 2);
  ASSERT_EQ(file->passedOver.size(), 1u);
  EXPECT_EQ(file->passedOver[0].count, 2);
  EXPECT_EQ(file->passedOver[0].source, directory.get("file") + ":7");
  EXPECT_NE(file->passedOver[0].reason.find("'lrn' is not supported"),
            std::string::npos);
}

// Records of MIOpen's text databases are read.
TEST_F(ProblemFiles, TextDatabases) {
  EXPECT_EQ(list("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-F=Solver:0.1,0,a\n"
                 "8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-B=Solver:0.1,0,a;"
                 "Other:0.2,0,b\n"),
            (Lines{"conv-fwd" + kPlain + " *1 @file:1",
                   "conv-bwd" + kPlain + " *1 @file:2"}));
}

// Lines that are no problem are counted by their reason, or make the file fail.
TEST_F(ProblemFiles, PassesOver) {
  const std::string text =
      "walk the dog\nfeed - the cat\n" + kForward +
      "\nconv-fwd-f16-nhwc,nhwc,nhwc-n0c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1\n";
  ErrorOr<ProblemFile> file = read(text);
  ASSERT_TRUE(file) << file.getStatus().getMessage();
  ASSERT_EQ(file->passedOver.size(), 3u);
  EXPECT_EQ(file->passedOver[0].reason, "a line that names no problem");
  EXPECT_NE(file->passedOver[2].reason.find("the batch size"),
            std::string::npos);
  const std::string name = directory.get("file");
  EXPECT_EQ(getSummary(*file)
                .substr(0, 100 + name.size())
                .find("1 problems (1 with repetitions)\n"
                      "passed over 1: a line that names no problem (first at " +
                      name + ":1)\n"),
            0u);
  options.strict = true;
  EXPECT_EQ(refuse(text), name + ":1: a line that names no problem");
}

// A file of an unrelated kind does not fill the screen with messages.
TEST_F(ProblemFiles, LongSummaries) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "conv" + std::to_string(i) + "\n";
  ErrorOr<ProblemFile> file = read(text);
  ASSERT_TRUE(file) << file.getStatus().getMessage();
  const std::string summary = getSummary(*file);
  EXPECT_EQ(std::ranges::count(summary, '\n'), 10);
  EXPECT_NE(summary.find("\npassed over 22 for other reasons\n"),
            std::string::npos);
}

/// Makes a perf database with these rows, as bytes.
static std::string makePerfDatabase(const std::string &rows) {
  test::TemporaryDirectory directory;
  {
    ErrorOr<SqliteDatabase> database =
        SqliteDatabase::open(directory.get("perf.db"));
    Status status = database->execute(
        "CREATE TABLE config(id INTEGER PRIMARY KEY, layout TEXT, data_type "
        "TEXT, direction TEXT, spatial_dim INT, in_channels INT, in_h INT, "
        "in_w INT, in_d INT, fil_h INT, fil_w INT, fil_d INT, out_channels "
        "INT, batchsize INT, pad_h INT, pad_w INT, pad_d INT, conv_stride_h "
        "INT, conv_stride_w INT, conv_stride_d INT, dilation_h INT, "
        "dilation_w INT, dilation_d INT, bias INT, group_count INT);"
        "INSERT INTO config VALUES " +
        rows);
    EXPECT_TRUE(status.isOk()) << status.getMessage();
  }
  std::ifstream stream(directory.get("perf.db"), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Rows of MIOpen's SQLite perf database are read: a forward one, and a strided
// backward one that leaves the input open.
TEST_F(ProblemFiles, SqliteDatabases) {
  EXPECT_EQ(
      list(makePerfDatabase(
          "(7,'NCHW','FP32','F',2, 8,4,4,1, 1,1,1, 8,1, 0,0,0, 1,1,0, 1,1,0, "
          "0,1),"
          "(9,'NCHW','BF16','W',2, 512,28,28,1, 3,3,1, 256,6, 1,1,0, 2,2,0, "
          "1,1,0, 0,1)")),
      (Lines{"conv-fwd" + kPlain + " *1 @file: config 7",
             "conv-wrw-bf16-nchw,nchw,nchw-n6c256h56w56-k512y3x3-p1x1-s2x2-"
             "d1x1-g1 *1 @file: config 9"}));
}

// A row with numbers that no problem has, or NULL, is skipped.
TEST_F(ProblemFiles, BadRows) {
  ErrorOr<ProblemFile> file = read(makePerfDatabase(
      "(1,'NCHW','FP32','B',2, 8,4611686018427387904,4,1, 1,1,1, 8,1, 0,0,0, "
      "4611686018427387904,1,0, 1,1,0, 0,1),"
      "(2,'NCHW','FP32','F',2, NULL,4,4,1, 1,1,1, 8,1, 0,0,0, 1,1,0, 1,1,0, "
      "0,1),"
      "(3,NULL,'FP32','F',2, 8,4,4,1, 1,1,1, 8,1, 0,0,0, 1,1,0, 1,1,0, 0,1)"));
  ASSERT_TRUE(file) << file.getStatus().getMessage();
  EXPECT_TRUE(file->problems.empty());
  ASSERT_EQ(file->passedOver.size(), 2u);
  EXPECT_EQ(file->passedOver[0].reason, "a key with a number out of range");
  EXPECT_EQ(file->passedOver[0].count, 2);
}

// Other SQLite files, and damaged ones, are refused with a sentence.
TEST_F(ProblemFiles, WrongSqlite) {
  std::string bytes = makePerfDatabase(
      "(1,'NCHW','FP32','F',2, 8,4,4,1, 1,1,1, 8,1, 0,0,0, 1,1,0, 1,1,0, "
      "0,1)");
  for (size_t length : {size_t(16), size_t(600), bytes.size() / 2})
    EXPECT_FALSE(refuse(bytes.substr(0, length)).empty()) << length;
  EXPECT_FALSE(
      refuse(std::string("SQLite format 3\0", 16) + std::string(5000, '\x7f'))
          .empty());
  {
    ErrorOr<SqliteDatabase> other =
        SqliteDatabase::open(directory.get("other.db"));
    ASSERT_TRUE(other->execute("CREATE TABLE cars(wheels INT)").isOk());
  }
  const std::string message =
      readProblems(directory.get("other.db")).getStatus().getMessage();
  EXPECT_NE(message.find("no perf database of MIOpen"), std::string::npos)
      << message;
}

// Files that cannot be read, or are of no known kind, are refused.
TEST_F(ProblemFiles, Refusals) {
  EXPECT_EQ(readProblems("/nowhere/list").getStatus().getMessage(),
            "cannot read '/nowhere/list': No such file or directory");
  EXPECT_EQ(readProblems(directory.getPath()).getStatus().getMessage(),
            "cannot read '" + directory.getPath() + "': it is a directory");
  EXPECT_EQ(refuse("BZh91AY"), "'" + directory.get("file") +
                                   "' is compressed; unpack it with bunzip2 "
                                   "first");
}

// An empty file names no problem, which is no error for a log.
TEST_F(ProblemFiles, Empty) { EXPECT_TRUE(list("").empty()); }

// Random bytes give a sentence or no problems, and never a crash; so do good
// files with changed bytes.
TEST_F(ProblemFiles, Noise) {
  std::mt19937 random(7);
  const std::string good =
      kForward + "\n3 conv " + kFlags +
      "\n8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-F=Solver:0.1,0,a\n"
      "./bin/MIOpenDriver pool -W 1x4x8x8 -y 2 -x 2\n";
  const std::string database = makePerfDatabase(
      "(1,'NCHW','FP32','F',2, 8,4,4,1, 1,1,1, 8,1, 0,0,0, 1,1,0, 1,1,0, "
      "0,1)");
  for (int i = 0; i < 150; ++i) {
    std::string bytes = i % 3 == 0 ? good : i % 3 == 1 ? database : "";
    if (bytes.empty())
      for (int j = 0; j < 200; ++j)
        bytes += static_cast<char>(random());
    else
      for (int j = 0; j < 10; ++j)
        bytes[random() % bytes.size()] = static_cast<char>(random());
    ErrorOr<ProblemFile> file = read(bytes);
    if (!file) {
      EXPECT_FALSE(file.getStatus().getMessage().empty());
    }
  }
}

// These are the flags that tools share.
TEST(ProblemFileFlags, EveryFlag) {
  ProblemFileOptions options;
  auto take = [&](const std::string &flag, const std::string &value) {
    ErrorOr<bool> taken = readProblemFileFlag(flag, value, options);
    return taken ? *taken ? "taken" : "other" : taken.getStatus().getMessage();
  };
  for (const char *flag : {"--strict", "--fuse"}) {
    EXPECT_EQ(take(flag, ""), "taken");
    EXPECT_FALSE(hasProblemFileValue(flag));
  }
  EXPECT_TRUE(hasProblemFileValue("--type"));
  EXPECT_EQ(take("--type", "bf16"), "taken");
  EXPECT_EQ(take("--layout", "NHWC"), "taken");
  EXPECT_EQ(take("--directions", "F,W"), "taken");
  EXPECT_EQ(take("--batch", "16"), "taken");
  EXPECT_EQ(take("--dim", "height=224"), "taken");
  EXPECT_EQ(take("--speed", "9"), "other");
  EXPECT_TRUE(options.strict && options.fuse);
  EXPECT_EQ(options.dataType, DataType::BF16);
  EXPECT_EQ(options.layout, Layout::NHWC);
  EXPECT_EQ(options.directions,
            (std::vector{Direction::Forward, Direction::BackwardWeights}));
  EXPECT_EQ(options.batch, 16);
  EXPECT_EQ(options.dimensions.at("height"), 224);
  EXPECT_EQ(toFlags(options), (Lines{"--strict", "--fuse", "--type", "bf16",
                                     "--layout", "NHWC", "--directions", "F,W",
                                     "--batch", "16", "--dim", "height=224"}));
  EXPECT_EQ(take("--type", "fp8"),
            "--type takes fp16, bf16, fp32, fp64 or int8, not 'fp8'");
  EXPECT_EQ(take("--layout", "CHWN"),
            "--layout takes NCHW or NHWC, not 'CHWN'");
  EXPECT_EQ(take("--directions", "F,,B"),
            "--directions takes some of F, B and W with commas between, not "
            "'F,,B'");
  EXPECT_EQ(take("--batch", "0"),
            "--batch takes a number of at least 1, not '0'");
  EXPECT_EQ(take("--dim", "224"),
            "--dim takes a name and a number, as height=224, not '224'");
}
