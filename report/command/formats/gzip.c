#include "report/command/formats/gzip.h"

#include <stdbool.h>

/* Writes a number of `bytes` bytes, the lowest first. */
static void put_number(FILE *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        fputc((int)(value >> 8 * i & 0xff), out);
}

/* Writes the header of a gzip file, without name and time: equal contents make equal files. */
static void put_header(FILE *out)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    fwrite(header, 1, sizeof header, out);
}

/* Writes what is collected as a block that is stored without compression. */
static void put_block(struct sc_gzip *file, bool is_last)
{
    if (file->size == 0)
        put_header(file->out);
    file->size += file->used;
    put_number(file->out, is_last, 1);
    put_number(file->out, file->used, 2);
    put_number(file->out, ~(uint64_t)file->used, 2);
    fwrite(file->block, 1, file->used, file->out);
    file->used = 0;
}

/* Returns the check sum with one byte more. */
static uint32_t crc_with(uint32_t crc, unsigned char byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    return crc;
}

/* Appends bytes to the file. */
void sc_gzip_put(struct sc_gzip *file, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint32_t crc = ~file->crc;
    for (size_t i = 0; i < size; i++) {
        if (file->used == SC_GZIP_BLOCK_BYTES)
            put_block(file, false);
        crc = crc_with(crc, byte[i]);
        file->block[file->used++] = byte[i];
    }
    file->crc = ~crc;
}

/* Writes what is left, marked as the last block, and the checksum and size. */
void sc_gzip_end(struct sc_gzip *file)
{
    put_block(file, true);
    put_number(file->out, file->crc, 4);
    put_number(file->out, file->size, 4);
}
