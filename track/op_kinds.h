/* What an operation is: which way it goes, and whose memory its buffer is. Plain data; the words
 * are a contract with users of the report, as those of track/hazard.def are. */
#ifndef SC_TRACK_OP_KINDS_H
#define SC_TRACK_OP_KINDS_H

enum sc_buffer_kind {
#define SC_BUFFER_KIND(kind, word) kind,
#include "track/op_kinds.def"
};

enum sc_direction {
#define SC_DIRECTION(direction, word) direction,
#include "track/op_kinds.def"
};

#endif
