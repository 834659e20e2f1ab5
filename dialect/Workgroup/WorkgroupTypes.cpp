//===- WorkgroupTypes.cpp - Types of the wg dialect -----------------------===//

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::wg;

/// Reads `count` sizes with an element's type behind them, if it is asked for.
static ParseResult parseSizes(AsmParser &parser, SmallVector<int64_t> &sizes,
                              size_t count, Type *element) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/element != nullptr) ||
      (element && parser.parseType(*element)))
    return failure();
  if (sizes.size() != count)
    return parser.emitError(loc) << "needs " << count << " sizes";
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static constexpr StringRef kLayouts[] = {
    "row_major", "column_major", "chunks",   "blocks",  "halo",  "planes",
    "pixels",    "circular",     "diagonal", "windows", "pairs", "matrices",
    "lines",     "padded",       "plain",    "mixed"};

StringRef tessera::wg::getName(Layout layout) {
  return kLayouts[static_cast<size_t>(layout)];
}

std::optional<Layout> tessera::wg::parseLayout(StringRef name) {
  const auto *found = llvm::find(kLayouts, name);
  if (found == std::end(kLayouts))
    return std::nullopt;
  return static_cast<Layout>(found - kLayouts);
}

bool tessera::wg::hasNumber(Layout layout) { return layout <= Layout::Windows; }

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  Type element;
  StringRef name;
  int64_t swizzle = 0;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSizes(parser, sizes, 3, &element) ||
      parser.parseComma() || parser.parseKeyword(&name))
    return {};
  std::optional<Layout> layout = parseLayout(name);
  if (!layout)
    return parser.emitError(loc) << "has no layout '" << name << "'", Type();
  if (hasNumber(*layout) && parser.parseInteger(swizzle))
    return {};
  bool isSplit = false, isMirrored = false;
  if (succeeded(parser.parseOptionalComma())) {
    isSplit = succeeded(parser.parseOptionalKeyword("split"));
    isMirrored = !isSplit;
    if (isMirrored && parser.parseKeyword("mirror"))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return BufferType::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(), sizes[0],
      sizes[1], sizes[2], element, *layout, swizzle, isSplit, isMirrored);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<" << getSlots() << "x" << getRows() << "x" << getColumns() << "x"
          << getElementType() << ", " << getName(getLayout());
  if (hasNumber(getLayout()))
    printer << " " << getSwizzle();
  printer << (getIsSplit() ? ", split>" : getIsMirrored() ? ", mirror>" : ">");
}

static constexpr int64_t kChunk = 16;
static constexpr int64_t kChannels = 64; ///< Of narrow groups side by side.

/// Layouts of threads: rows of 16-byte chunks, a power of two of them unless
/// the whole reduction is one.
static LogicalResult verifyOfThreads(function_ref<InFlightDiagnostic()> error,
                                     int64_t rowBytes, Layout layout,
                                     int64_t number, bool isOfTma) {
  if (isOfTma)
    return error() << "is split or has a mirror, which only TMA's layouts are";
  const bool isWhole = layout == Layout::Windows || layout == Layout::Padded;
  if (layout == Layout::Diagonal && (number < 1 || kChannels % number != 0))
    return error() << "has groups of " << number << " channels, of which "
                   << kChannels << " are no multiple";
  const bool isOfCells = layout == Layout::Pixels ||
                         layout == Layout::Circular ||
                         layout == Layout::Diagonal;
  if (layout != Layout::Plain && !isOfCells &&
      (rowBytes % kChunk != 0 ||
       (!isWhole && !llvm::isPowerOf2_64(rowBytes / kChunk))))
    return error() << "has rows of " << rowBytes << " bytes, which are no "
                   << (isWhole ? "" : "power of two ") << "16-byte chunks";
  if (layout >= Layout::Halo && hasNumber(layout) && number < 1)
    return error() << "has slots of " << number
                   << (layout == Layout::Windows ? " elements"
                       : isOfCells               ? " pixels"
                                                 : " lines");
  if (layout == Layout::Chunks && number != 0 && number != 32 && number != 64)
    return error() << "has chunks swizzled for " << number
                   << " banks, but there are 32 and 64";
  if (layout == Layout::Blocks && number != 2 && number != 4)
    return error() << "has blocks of " << number
                   << " rows, but there are those of 2 and of 4";
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t slots, int64_t rows, int64_t columns,
                                 Type element, Layout layout, int64_t swizzle,
                                 bool isSplit, bool isMirrored) {
  if (slots < 1 || rows < 1 || columns < 1 || !element.isIntOrFloat())
    return emitError() << "needs slots, rows and columns of numbers";
  const int64_t bytes = columns * element.getIntOrFloatBitWidth() / 8;
  if (layout > Layout::ColumnMajor)
    return verifyOfThreads(emitError, bytes, layout, swizzle,
                           isSplit || isMirrored);
  const bool columnMajor = layout == Layout::ColumnMajor;
  if (swizzle != 128 && swizzle != 64 && swizzle != 32)
    return emitError() << "has a swizzle of " << swizzle
                       << " bytes, but there are 128, 64 and 32";
  if (isSplit && !element.isF32())
    return emitError() << "splits " << element << ", but f32 has terms";
  const int64_t rowBytes = rows * element.getIntOrFloatBitWidth() / 8;
  if (isMirrored && (isSplit || !columnMajor || rowBytes != swizzle))
    return emitError() << "has a mirror, but no columns of " << swizzle
                       << " bytes that lie together";
  if (!columnMajor && bytes != swizzle)
    return emitError() << "has rows of " << bytes << " bytes, but a swizzle of "
                       << swizzle;
  return success();
}

BufferType BufferType::withRows(int64_t rows) const {
  return get(getContext(), getSlots(), rows, getColumns(), getElementType(),
             getLayout(), getSwizzle(), getIsSplit(),
             /*isMirrored=*/false);
}

BoxType BufferType::getTile() const {
  return BoxType::get(getContext(), getRows(), getColumns(), getElementType());
}

/// Shared rows are lines, a chunk further apart than they are long; padded ones
/// are an odd number of chunks apart.
int64_t BufferType::getSlotBytes() const {
  constexpr int64_t kAlignment = 1024; // Of a pattern of 128 bytes.
  const int64_t elementBytes = getElementType().getIntOrFloatBitWidth() / 8;
  const int64_t rowBytes = getColumns() * elementBytes;
  if (isShared())
    return getSwizzle() * (rowBytes + kChunk);
  if (getLayout() == Layout::Windows)
    return getSwizzle() * elementBytes;
  if (getLayout() == Layout::Pixels || getLayout() == Layout::Circular)
    return getSwizzle() * (kChannels * elementBytes + kChunk);
  if (getLayout() == Layout::Diagonal)
    return getRows() * (rowBytes / kChannels * getSwizzle());
  if (getLayout() == Layout::Padded)
    return getRows() * (rowBytes / kChunk | 1) * kChunk;
  const int64_t bytes = getRows() * rowBytes;
  return isOfTma() ? llvm::alignTo(bytes, kAlignment) * (getIsSplit() ? 2 : 1)
                   : bytes;
}

int64_t BufferType::getBytes() const {
  const int64_t zeros =
      getLayout() == Layout::Halo
          ? getColumns() * getElementType().getIntOrFloatBitWidth() / 8
          : 0;
  return (getSlots() + (getIsMirrored() ? 1 : 0)) * getSlotBytes() + zeros;
}

//===----------------------------------------------------------------------===//
// Boxes, pieces, fragments and accumulators
//===----------------------------------------------------------------------===//

template <typename TypeT>
static Type parseRows(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  Type element;
  if (parser.parseLess() || parseSizes(parser, sizes, 2, &element) ||
      parser.parseGreater())
    return {};
  return TypeT::get(parser.getContext(), sizes[0], sizes[1], element);
}

template <typename TypeT>
static void printRows(AsmPrinter &printer, TypeT type) {
  printer << "<" << type.getRows() << "x" << type.getColumns() << "x"
          << type.getElementType() << ">";
}

Type BoxType::parse(AsmParser &parser) { return parseRows<BoxType>(parser); }
void BoxType::print(AsmPrinter &printer) const { printRows(printer, *this); }
Type PiecesType::parse(AsmParser &parser) {
  return parseRows<PiecesType>(parser);
}
void PiecesType::print(AsmPrinter &printer) const { printRows(printer, *this); }

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  Type element;
  if (parser.parseLess() || parseSizes(parser, sizes, 2, &element))
    return {};
  const bool isSplit = succeeded(parser.parseOptionalComma());
  if ((isSplit && parser.parseKeyword("split")) || parser.parseGreater())
    return {};
  return FragmentType::get(parser.getContext(), sizes[0], sizes[1], element,
                           isSplit);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType()
          << (getIsSplit() ? ", split>" : ">");
}

Type AccType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (parser.parseLess() || parseSizes(parser, sizes, 2, nullptr))
    return {};
  const bool isSwapped = succeeded(parser.parseOptionalComma());
  if ((isSwapped &&
       (parser.parseKeyword("lanes") || parser.parseKeyword("m"))) ||
      parser.parseGreater())
    return {};
  return AccType::get(parser.getContext(), sizes[0], sizes[1], isSwapped);
}

void AccType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns()
          << (getIsSwapped() ? ", lanes m>" : ">");
}

Type SumsType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSizes(parser, sizes, 3, nullptr) ||
      parser.parseGreater())
    return {};
  return SumsType::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), sizes[0], sizes[1],
                              sizes[2]);
}

void SumsType::print(AsmPrinter &printer) const {
  printer << "<" << getSlots() << "x" << getRows() << "x" << getColumns()
          << ">";
}

/// What tcgen05.mma of one workgroup takes: 128 rows of all lanes.
LogicalResult SumsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t slots, int64_t rows, int64_t columns) {
  constexpr int64_t kLanes = 128, kWords = 512, kUnit = 16, kMost = 256;
  if (slots < 1 || rows != kLanes || columns < kUnit || columns % kUnit != 0 ||
      columns > kMost || slots * columns > kWords)
    return emitError() << "needs slots of " << kLanes << " rows and up to "
                       << kMost << " columns, in multiples of " << kUnit
                       << ", and at most " << kWords << " columns in all";
  return success();
}

int64_t AccType::countBlocks() const {
  constexpr int64_t kRows = 64; // Of one wgmma.
  return (getIsSwapped() ? getColumns() : getRows()) / kRows;
}

int64_t AccType::getProductColumns() const {
  return getIsSwapped() ? getRows() : getColumns();
}

#define GET_TYPEDEF_CLASSES
#include "dialect/Workgroup/WorkgroupTypes.cpp.inc"

void WgDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Workgroup/WorkgroupTypes.cpp.inc"
      >();
}
