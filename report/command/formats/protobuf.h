/* Writes messages of protocol buffers, in memory that grows with them. */
#ifndef SC_REPORT_COMMAND_FORMATS_PROTOBUF_H
#define SC_REPORT_COMMAND_FORMATS_PROTOBUF_H

#include "report/command/scratch.h"

#include <stddef.h>
#include <stdint.h>

/* All zero but for `scratch` is an empty message. */
struct sc_protobuf {
    struct sc_scratch *scratch;
    unsigned char *bytes;
    size_t size, capacity;
};

/* Append a field with this number to the message; sc_protobuf_fixed with 8 bytes, and the others
 * with as many as the value needs. */
void sc_protobuf_number(struct sc_protobuf *message, unsigned field, uint64_t value);
void sc_protobuf_fixed(struct sc_protobuf *message, unsigned field, uint64_t value);
void sc_protobuf_string(struct sc_protobuf *message, unsigned field, const char *value);
void sc_protobuf_message(struct sc_protobuf *message, unsigned field,
                         const struct sc_protobuf *value);

#endif
