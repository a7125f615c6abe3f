"""A trace of `safecopy report --format perfetto` as the tables that Perfetto's trace processor makes of
one, in SQLite, of which its SQL is a dialect: for queries where the trace processor cannot be had."""

import sqlite3

from test_formats import fields

TRACK_EVENT, TRACK_DESCRIPTOR, TIMESTAMP = 11, 60, 8
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
SCHEMA = """
CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER);
CREATE TABLE slice (id INTEGER PRIMARY KEY, ts INTEGER, dur INTEGER, track_id INTEGER, category TEXT,
                    name TEXT, arg_set_id INTEGER);
CREATE TABLE args (arg_set_id INTEGER, key TEXT, string_value TEXT);
CREATE TABLE flow (slice_out INTEGER, slice_in INTEGER);
CREATE TABLE counter (ts INTEGER, track_id INTEGER, value REAL);
"""


class Tables:
    def __init__(self, trace):
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.tracks, self.open, self.flows, self.slices = {}, {}, {}, 0
        packets = [dict(fields(packet)) for _, packet in fields(trace)]
        for packet in packets:
            if TRACK_DESCRIPTOR in packet:
                self.take_track(dict(fields(packet[TRACK_DESCRIPTOR])))
        for packet in sorted((packet for packet in packets if TRACK_EVENT in packet),
                             key=lambda packet: packet[TIMESTAMP]):
            self.take_event(packet[TIMESTAMP], list(fields(packet[TRACK_EVENT])))

    def query(self, text):
        return self.database.execute(text).fetchall()

    def take_track(self, track):
        number = self.tracks[track[1]] = len(self.tracks) + 1
        self.database.execute("INSERT INTO track VALUES (?, ?, ?)",
                              (number, track[2].decode(), self.tracks.get(track.get(5))))

    def take_event(self, time, event):
        known = dict(event)
        track = self.tracks[known[11]]
        if known[9] == COUNTER:
            self.database.execute("INSERT INTO counter VALUES (?, ?, ?)", (time, track, known[30]))
        elif known[9] == END:
            number = self.open[track].pop()
            self.database.execute("UPDATE slice SET dur = ? - ts WHERE id = ?", (time, number))
        else:
            self.take_slice(time, track, event)

    def take_slice(self, time, track, event):
        known, number = dict(event), self.slices
        self.slices += 1
        if known[9] == BEGIN:
            self.open.setdefault(track, []).append(number)
        self.database.execute("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?)",
                              (number, time, 0 if known[9] == INSTANT else -1, track,
                               known[22].decode(), known[23].decode(), number))
        for key, value in event:
            if key == 4:
                note = dict(fields(value))
                self.database.execute("INSERT INTO args VALUES (?, ?, ?)",
                                      (number, f"debug.{note[10].decode()}", note[6].decode()))
            elif key in (47, 48):
                if value in self.flows:
                    self.database.execute("INSERT INTO flow VALUES (?, ?)",
                                          (self.flows[value], number))
                self.flows[value] = number
                if key == 48:
                    del self.flows[value]
