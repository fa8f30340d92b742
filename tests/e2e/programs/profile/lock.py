"""Locks a profile database: lock.py FILE exclusive|write SECONDS. Prints "locked" when it has the lock, and ends after the time."""
import sqlite3, sys, time

db = sqlite3.connect(sys.argv[1], isolation_level=None)
if sys.argv[2] == "exclusive":
    db.execute("PRAGMA journal_mode = DELETE")    # with a write-ahead log, readers would not be held up
db.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
time.sleep(float(sys.argv[3]))
