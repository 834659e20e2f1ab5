"""Work that a thread begins and later waits for: copies and products."""

import numpy as np


class Groups:
    """The groups of one kind (of cp.async, of copies in bulk, of wgmma), each
    thread's own. Work is done when it is begun or, if `is_late`, only when its
    threads wait for it: what they touch too early shows then."""

    def __init__(self, threads, is_late):
        self.is_late = is_late
        self.committed = np.zeros(threads, np.int64)
        self.begun = []  # Work, its group by thread, threads that still wait.

    def begin(self, lanes, work):
        """Begins work(lanes)."""
        if self.is_late:
            self.begun.append([work, self.committed.copy(), lanes.copy()])
        else:
            work(lanes)

    def commit(self, lanes):
        self.committed[lanes] += 1

    def wait(self, lanes, count=0, is_committed=True):
        """Does the work of all but the latest `count` groups; also that which
        is in no group, unless `is_committed`."""
        last = self.committed - count + (0 if is_committed else 1)
        for entry in self.begun:
            work, group, waiting = entry
            due = waiting & lanes & (group < last)
            if due.any():
                work(due)
                entry[2] = waiting & ~due
        self.begun = [entry for entry in self.begun if entry[2].any()]
