// The parts of the agent that need no server: scripts, programs, lines, the log pump.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hodei/v1/job.pb.h"
#include "src/base/text.h"
#include "src/worker/agent/program_builder.h"
#include "src/worker/agent/script_header.h"
#include "src/worker/output/line_cutter.h"
#include "src/worker/output/log_pump.h"

namespace hodei::worker::agent_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(SafetyHeader, GoesBehindTheShebang) {
  EXPECT_EQ(with_safety_header("bash", "#!/bin/bash -x\necho a\n"), "#!/bin/bash -x\nset -euo pipefail\necho a\n");
  EXPECT_EQ(with_safety_header("bash", "echo a\n"), "set -euo pipefail\necho a\n");
  EXPECT_EQ(with_safety_header("bash", "#!/bin/bash"), "#!/bin/bash\nset -euo pipefail\n");
}

TEST(SafetyHeader, DependsOnTheShell) {
  for (const char* shell : {"bash", "/bin/zsh", "ksh", "/usr/bin/env bash", "env -S A=1 bash -x"}) {
    EXPECT_EQ(safety_header(shell), "set -euo pipefail") << shell;
  }
  for (const char* shell : {"sh", "/bin/dash", "ash"})
    EXPECT_THAT(std::string(safety_header(shell)), HasSubstr("set -eu;"));
  for (const char* other : {"python3", "/usr/bin/perl", "fish", ""}) EXPECT_EQ(safety_header(other), "") << other;
}

class ProgramTest : public testing::Test {
 protected:
  Program build() {
    return build_program({.execution = {JobId{5}, 2},
                          .job_id = "as the server says",
                          .attempt = 3,
                          .epoch = 9,
                          .spec = spec.SerializeAsString()});
  }
  v1::JobSpec spec;
};

TEST_F(ProgramTest, TakesCommandEnvironmentAndLimitsFromTheSpec) {
  spec.mutable_command()->mutable_shell()->set_cmd("ls");
  spec.mutable_command()->mutable_shell()->add_args("-l; rm");
  (*spec.mutable_env())["A"] = "b=c";
  spec.set_timeout_ms(1500);
  spec.set_kill_grace_ms(10);
  spec.set_working_dir("/tmp");
  const Program program = build();
  EXPECT_EQ(program.impossible, "");
  EXPECT_THAT(program.argv, ElementsAre("ls", "-l; rm"));
  for (const char* pair : {"A=b=c", "HODEI_EXECUTION_ID=j5.2", "HODEI_ATTEMPT=3", "HODEI_EPOCH=9"}) {
    EXPECT_THAT(program.env, Contains(pair));
  }
  EXPECT_THAT(program.env, Contains("HODEI_JOB_ID=as the server says"));
  EXPECT_EQ(program.timeout, 1500ms);
  EXPECT_EQ(program.grace, 10ms);
  EXPECT_EQ(program.working_dir, "/tmp");
}

TEST_F(ProgramTest, GivesSecretsAsOneJsonObjectAndAsFilesWhereAskedFor) {
  spec.mutable_command()->mutable_shell()->set_cmd("true");
  RunOrder order{.execution = {JobId{5}, 2}, .secrets = {{"token", "a\"b\nc"}}};
  order.spec = spec.SerializeAsString();
  EXPECT_EQ(build_program(order).input, R"({"token":"a\"b\nc"})");
  EXPECT_TRUE(build_program(order).secret_files.empty());
  spec.set_secret_files(true);
  order.spec = spec.SerializeAsString();
  ASSERT_EQ(build_program(order).secret_files.size(), 1u);
  EXPECT_EQ(build_program(order).secret_files[0].content, "a\"b\nc");
  order.secret_error = "there is no secret 'token'";
  EXPECT_EQ(build_program(order).impossible_failure, "secret_error");
}

TEST_F(ProgramTest, WritesAScriptAndRunsItWithItsInterpreter) {
  auto& script = *spec.mutable_command()->mutable_script();
  script.set_content("echo hi");
  script.add_args("x y");
  Program program = build();
  EXPECT_THAT(program.argv, ElementsAre("bash", cat(kFolderMark, "/script"), "x y"));
  EXPECT_EQ(program.files[0].content, "set -euo pipefail\necho hi");
  script.set_no_safety_header(true);
  EXPECT_EQ(build().files[0].content, "echo hi");
  script.set_content("#!/usr/bin/env python3\nprint(1)");
  program = build();
  EXPECT_THAT(program.argv, ElementsAre("/usr/bin/env", "python3", cat(kFolderMark, "/script"), "x y"));
}

TEST_F(ProgramTest, SaysWhatIsWrongWithAnOrder) {
  EXPECT_THAT(build().impossible, HasSubstr("kind of command"));
  spec.mutable_command()->mutable_shell()->set_cmd(std::string("a\0b", 3));
  EXPECT_THAT(build().impossible, HasSubstr("NUL"));
  spec.mutable_command()->mutable_shell()->set_cmd("a");
  spec.set_working_dir("relative");
  EXPECT_THAT(build().impossible, HasSubstr("working_dir"));
  EXPECT_THAT(build_program({.spec = "\xff\xff"}).impossible, HasSubstr("spec"));
}

std::vector<std::string> lines_of(const LogPart& part) {
  std::vector<std::string> out;
  size_t at = 0;
  for (const Line& line : part.lines) {
    out.push_back(cat(line.stream == OutputStream::Stderr ? "E:" : "", part.data.substr(at, line.length),
                      line.partial ? "~" : ""));
    at += line.length;
  }
  return out;
}

TEST(LineCutter, CutsAtNewlinesAndKeepsEverythingElse) {
  LogPart part;
  LineCutter cutter(part);
  cutter.add(std::string_view("a\r\nb\0c\nde", 9), OutputStream::Stdout, WallTime{1});
  cutter.add("f\n", OutputStream::Stdout, WallTime{2});
  EXPECT_THAT(lines_of(part), ElementsAre("a\r\n", std::string("b\0c\n", 4), "def\n"));
  EXPECT_EQ(part.lines[2].time, WallTime{1});
}

TEST(LineCutter, AChangeOfStreamInsideALineMakesItPartial) {
  LogPart part;
  LineCutter cutter(part);
  cutter.add("abc", OutputStream::Stdout, {});
  cutter.add("oh\n", OutputStream::Stderr, {});
  cutter.add("def\n", OutputStream::Stdout, {});
  EXPECT_THAT(lines_of(part), ElementsAre("abc~", "E:oh\n", "def\n"));
}

TEST(LineCutter, AnEndlessLineIsCutIntoPieces) {
  LogPart part;
  LineCutter cutter(part);
  for (int i = 0; i < 100; ++i) cutter.add(std::string(1500, 'x'), OutputStream::Stdout, {});
  ASSERT_EQ(part.lines.size(), 2u);
  EXPECT_EQ(part.lines[0].length, 64u << 10);
  EXPECT_TRUE(part.lines[0].partial);
  EXPECT_EQ(cutter.open_length(), 150'000u - 2 * (64 << 10));
}

class LogPumpTest : public testing::Test {
 protected:
  LogPumpTest() { pump.add(a, &memory); }
  void write(std::string_view text, OutputStream stream = OutputStream::Stdout) {
    ASSERT_TRUE(writer.append(stream, now.wall, text));
    pump.look(now);
  }
  void advance(Duration by) { now = {now.wall + by, now.mono + by}; }
  // What is sent until nothing is due any more; offsets must fit together.
  std::string take() {
    std::string all;
    for (auto parts = pump.take(now); !parts.empty(); parts = pump.take(now)) {
      for (const LogPart& part : parts) {
        EXPECT_TRUE(all.empty() || part.offset == next);
        next = part.offset + part.data.size();
        all += part.data;
        ended = ended || part.end;
        ++batches;
        last = part;
      }
    }
    return all;
  }

  const ExecutionId a{JobId{1}, 1}, b{JobId{2}, 1};
  RingMemory memory = RingMemory::create(1 << 20).value();
  RingWriter writer{&memory};
  int rooms = 0;
  LogPump pump{{}, [this] { ++rooms; }};
  Now now{WallTime{1'000'000'000}, MonoTime{1'000'000}};
  uint64_t next = 0;
  bool ended = false;
  int batches = 0;
  LogPart last;
};

TEST_F(LogPumpTest, SendsTheFirstLinesSoonAndLaterOnesAtIntervals) {
  write("one\n");
  EXPECT_EQ(take(), "");
  advance(2ms);
  EXPECT_EQ(take(), "one\n");
  write("two\n");
  advance(50ms);
  write("three\n");
  EXPECT_EQ(take(), "");
  EXPECT_EQ(pump.next_due(), now.mono + 50ms);
  advance(50ms);
  EXPECT_EQ(take(), "two\nthree\n");
  EXPECT_EQ(pump.next_due(), kNever);
}

TEST_F(LogPumpTest, SendsSoManyLinesAtOnceAndFewerAfterSoLongAsItIsTold) {
  pump.set_batches(3, 10s);
  write("one\n");
  advance(2ms);
  EXPECT_EQ(take(), "one\n");
  write("two\nthree\n");
  advance(5s);
  EXPECT_EQ(take(), "");
  EXPECT_EQ(pump.next_due(), now.mono + 5s);
  write("four\n");
  EXPECT_EQ(take(), "two\nthree\nfour\n") << "the third line fills the batch";
  write("five\n");
  advance(10s);
  EXPECT_EQ(take(), "five\n") << "it has waited long enough";
}

TEST_F(LogPumpTest, MuchOutputIsSentAtOnceInLargeBatches) {
  for (int i = 0; i < 8000; ++i) write("a line of about fifty bytes, which is what they are\n");
  EXPECT_EQ(take().size(), 8000u * 52);
  EXPECT_EQ(batches, 2);
}

TEST_F(LogPumpTest, ALineWithoutItsEndIsHeldBackForAWhile) {
  write("done\nprompt> ");
  advance(2ms);
  EXPECT_EQ(take(), "done\n");
  advance(50ms);
  EXPECT_EQ(take(), "");
  advance(60ms);
  EXPECT_EQ(take(), "prompt> ");
  EXPECT_TRUE(last.lines[0].partial);
  EXPECT_EQ(pump.next_due(), kNever);
}

TEST_F(LogPumpTest, KeepsToTheServersWindowAndGoesOnAfterAnAcknowledgement) {
  pump.restart(512 << 10);
  for (int i = 0; i < 8000; ++i) write("a line of about fifty bytes, which is what they are\n");
  const std::string first = take();
  EXPECT_GE(pump.under_way(), size_t{256} << 10) << "one half is for those that have nothing under way";
  EXPECT_LT(first.size(), 8000u * 52);
  EXPECT_EQ(pump.next_due(), kNever) << "nothing is due before the server has acknowledged something";
  pump.acked(a, first.size());
  EXPECT_EQ(pump.under_way(), 0u);
  EXPECT_LE(pump.next_due(), now.mono);
  EXPECT_GT(take().size(), 0u);
}

TEST_F(LogPumpTest, AFloodLeavesRoomForThoseThatPrintLittleAndForEnds) {
  RingMemory other = RingMemory::create(1 << 20).value();
  RingWriter little{&other};
  pump.add(b, &other);
  pump.restart(512 << 10);
  for (int i = 0; i < 8000; ++i) write("a line of about fifty bytes, which is what they are\n");
  take();
  ASSERT_TRUE(little.append(OutputStream::Stdout, now.wall, "done\n"));
  pump.ended(b, 5);
  const ExecutionId silent{JobId{3}, 1};
  pump.ended(silent, 0);
  pump.look(now);
  std::map<ExecutionId, bool> ends;
  for (const LogPart& part : pump.take(now)) ends[part.execution] = part.end;
  EXPECT_TRUE(ends[b]);
  EXPECT_TRUE(ends[silent]);
  EXPECT_FALSE(ends.contains(a));
}

TEST_F(LogPumpTest, ANewStreamBeginsWithNothingUnderWay) {
  pump.restart(512 << 10);
  for (int i = 0; i < 8000; ++i) write("a line of about fifty bytes, which is what they are\n");
  const size_t before = take().size();
  pump.restart(512 << 10);
  next = 0;
  pump.look(now);
  EXPECT_EQ(take().size(), before);
  pump.restart();  // of a server that knows of no window
  next = 0;
  pump.look(now);
  EXPECT_EQ(take().size(), 8000u * 52);
}

TEST_F(LogPumpTest, TheEndComesWithTheLastOutput) {
  write("no newline");
  pump.ended(a, 10);
  pump.look(now);
  EXPECT_EQ(take(), "no newline");
  EXPECT_TRUE(ended);
  EXPECT_TRUE(last.lines[0].partial);  // no newline came, so none may be made up
  EXPECT_FALSE(pump.all_acked(a));
  pump.acked(a, 10);
  EXPECT_TRUE(pump.all_acked(a));
}

TEST_F(LogPumpTest, AnExecutionWithoutOutputHasAnEndToo) {
  pump.ended(b, 0);
  pump.look(now);
  EXPECT_EQ(take(), "");
  EXPECT_TRUE(ended);
  EXPECT_TRUE(pump.all_acked(b));
}

TEST_F(LogPumpTest, AfterAReconnectEverythingTheServerDoesNotHaveIsSentAgain) {
  write("one\n");
  write("two\n");
  write("three\n");
  pump.ended(a, 14);
  pump.look(now);
  EXPECT_EQ(take(), "one\ntwo\nthree\n");
  pump.acked(a, 4);
  pump.restart();
  pump.look(now);
  EXPECT_EQ(take(), "two\nthree\n");
  EXPECT_EQ(last.offset, 4u);
  pump.restart();
  pump.resume_at(a, 6);  // in the middle of a record
  pump.look(now);
  EXPECT_EQ(take(), "o\nthree\n");
  EXPECT_EQ(last.offset, 6u);
  EXPECT_TRUE(last.end);
}

TEST_F(LogPumpTest, AHoleInARingIsSaidToBeMissing) {
  write("one\n");
  write("two\n");
  // The second record, behind a header and one line, claims to lie further on.
  reinterpret_cast<RecordHeader*>(memory.data() + 2 * sizeof(RecordHeader))->offset = 100;
  pump.ended(a, 104);
  advance(1s);
  EXPECT_EQ(pump.take(now).at(0).data, "one\n");
  advance(1s);
  const std::vector<LogPart> rest = pump.take(now);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].offset, 100u);
  EXPECT_EQ(rest[0].lost, 96u);
  EXPECT_EQ(rest[0].data, "two\n");
  EXPECT_TRUE(rest[0].end);
}

TEST_F(LogPumpTest, ANewAgentGoesOnWhereTheRingBegins) {
  write("one\n");
  write("two\n");
  pump.ended(a, 8);
  take();
  pump.acked(a, 4);
  LogPump second({}, [] {});
  second.add(a, &memory);
  second.ended(a, 8);
  second.look(now);
  const auto parts = second.take(now);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].offset, 4u);
  EXPECT_EQ(parts[0].lost, 0u);
  EXPECT_EQ(parts[0].data, "two\n");
  EXPECT_TRUE(parts[0].end);
}

TEST_F(LogPumpTest, AGapIsSaidAloud) {
  write("one\n");
  write("two\n");
  pump.acked(a, 4);
  pump.restart();
  pump.resume_at(a, 1);
  pump.ended(a, 8);
  pump.look(now);
  EXPECT_EQ(take(), "two\n");
  EXPECT_EQ(last.lost, 3u);
}

TEST_F(LogPumpTest, WhatTheSupervisorDroppedIsAGapThatEndsTheLineBeforeIt) {
  write("one\nhalf a li");
  writer.skip(1000);
  write("ne\n");
  writer.skip(50);
  pump.ended(a, writer.log_bytes());
  advance(2ms);
  const std::vector<LogPart> first = pump.take(now);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].data, "one\nhalf a li") << "at once: nothing can continue it";
  EXPECT_TRUE(first[0].lines.back().partial);
  const std::vector<LogPart> second = pump.take(now);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].lost, 1000u);
  EXPECT_EQ(second[0].data, "ne\n");
  const std::vector<LogPart> third = pump.take(now);
  ASSERT_EQ(third.size(), 1u) << "what was dropped last is told with the end";
  EXPECT_EQ(third[0].offset, writer.log_bytes());
  EXPECT_EQ(third[0].lost, 50u);
  EXPECT_TRUE(third[0].end);
}

TEST_F(LogPumpTest, NobodysOutputIsThrownAwayAndTheJobIsNotHeldUp) {
  pump.discard(a);
  write("never seen\n");
  advance(1s);
  EXPECT_EQ(take(), "");
  EXPECT_EQ(memory.header().head.load(), memory.header().tail.load());
}

}  // namespace
}  // namespace hodei::worker::agent_test
