//===- Timeline.cpp - When each wave issued what --------------------------===//

#include "runtime/Emulator/Time/Timeline.h"

#include "runtime/Emulator/Measure/JsonObject.h"

using namespace tessera::emulator;

static std::string formatEvent(const Timeline::Event &event,
                               const Program &program, double clockMhz) {
  const Instruction &instruction = program.getBegin()[event.instruction];
  const std::string line = program.getSourceLine(instruction);
  JsonObject where;
  where.addInteger("pc", program.getOffset(instruction));
  if (!line.empty())
    where.addText("line", line);
  where.addInteger("clocks", static_cast<uint64_t>(event.end - event.begin));
  JsonObject text;
  text.addText("name", program.getText(instruction));
  text.addText("ph", "X");
  text.addNumber("ts", event.begin / clockMhz);
  text.addNumber("dur", (event.end - event.begin) / clockMhz);
  text.addInteger("pid", event.simd);
  text.addInteger("tid", event.wave);
  text.addRaw("args", where.finish());
  return text.finish();
}

static std::string formatName(uint32_t simd) {
  JsonObject name, text;
  name.addText("name", "SIMD " + std::to_string(simd));
  text.addText("name", "process_name");
  text.addText("ph", "M");
  text.addInteger("pid", simd);
  text.addRaw("args", name.finish());
  return text.finish();
}

std::string Timeline::format(const Program &program, double clockMhz) const {
  std::string text = "{\"traceEvents\":[";
  uint32_t simds = 0;
  for (const Event &event : events)
    simds = std::max(simds, event.simd + 1);
  for (uint32_t simd = 0; simd < simds; ++simd)
    text += (simd ? ",\n" : "\n") + formatName(simd);
  for (const Event &event : events)
    text += ",\n" + formatEvent(event, program, clockMhz);
  return text + "\n]}\n";
}
