/* Writes a gzip file (RFC 1952) without compressing, for formats that have to be gzip; they are
 * small here. */
#ifndef SC_REPORT_COMMAND_FORMATS_GZIP_H
#define SC_REPORT_COMMAND_FORMATS_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SC_GZIP_BLOCK_BYTES = 65535 };

/* A file that is being written. At first all is zero except `out`. */
struct sc_gzip {
    FILE *out;
    uint32_t crc;
    uint64_t size;
    size_t used;
    unsigned char block[SC_GZIP_BLOCK_BYTES];
};

void sc_gzip_put(struct sc_gzip *file, const void *bytes, size_t size);
void sc_gzip_end(struct sc_gzip *file);

#endif
