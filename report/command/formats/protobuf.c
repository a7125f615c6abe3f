#include "report/command/formats/protobuf.h"

#include <string.h>

enum { VARINT = 0, FIXED = 1, BYTES = 2 };

/* Appends bytes; the message grows as needed. */
static void put(struct sc_protobuf *message, const void *bytes, size_t size)
{
    if (message->capacity - message->size < size) {
        size_t capacity = 2 * (message->size + size) + 64;
        unsigned char *larger = sc_scratch_take(message->scratch, capacity);
        if (message->size > 0)
            memcpy(larger, message->bytes, message->size);
        message->bytes = larger;
        message->capacity = capacity;
    }
    memcpy(message->bytes + message->size, bytes, size);
    message->size += size;
}

/* Appends a number of as many bytes as it needs, seven bits in each. */
static void put_varint(struct sc_protobuf *message, uint64_t value)
{
    unsigned char bytes[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    put(message, bytes, size);
}

/* Appends a field that is a string or a message. */
static void put_bytes(struct sc_protobuf *message, unsigned field, const void *bytes, size_t size)
{
    put_varint(message, field << 3 | BYTES);
    put_varint(message, size);
    if (size > 0)
        put(message, bytes, size);
}

/* Adds a number to a message of protocol buffers. */
void sc_protobuf_number(struct sc_protobuf *message, unsigned field, uint64_t value)
{
    put_varint(message, field << 3 | VARINT);
    put_varint(message, value);
}

/* Appends a field that is a number of eight bytes. */
void sc_protobuf_fixed(struct sc_protobuf *message, unsigned field, uint64_t value)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    put_varint(message, field << 3 | FIXED);
    put(message, bytes, sizeof bytes);
}

void sc_protobuf_string(struct sc_protobuf *message, unsigned field, const char *value)
{
    put_bytes(message, field, value, strlen(value));
}

/* Adds a message within a message. */
void sc_protobuf_message(struct sc_protobuf *message, unsigned field,
                         const struct sc_protobuf *value)
{
    put_bytes(message, field, value->bytes, value->size);
}
