//===- ParallelTest.cpp - A loop on all processors ------------------------===//

#include "dialect/Reference/Parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

using tessera::reference::parallelFor;

// Every step runs once.
TEST(Parallel, RunsEveryStep) {
  std::atomic<int64_t> sum = 0;
  parallelFor(1000, [&](int64_t i) { sum += i; });
  EXPECT_EQ(sum, 999 * 1000 / 2);
}

// An exception in a step, on whichever thread, reaches the caller instead of
// ending the process.
TEST(Parallel, WhatAStepThrowsTheCallerGets) {
  for (int64_t failing : {0, 1, 500, 999})
    EXPECT_THROW(parallelFor(1000,
                             [&](int64_t i) {
                               if (i >= failing)
                                 throw std::bad_alloc();
                             }),
                 std::bad_alloc);
}
