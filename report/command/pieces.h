/* Keeps JSON objects that many lines of reports have in common, once each: the frames of stacks.
 *
 * Each is kept as text and as JSON. A line that is kept refers to them, which takes a tenth of its
 * memory, and is parsed again in a third of the time. A line whose frames are all its own is kept
 * as it is. */
#ifndef SC_REPORT_COMMAND_PIECES_H
#define SC_REPORT_COMMAND_PIECES_H

#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* How many pieces one line has, and all that is read. */
enum { SC_PIECES_OF_LINE_MAX = 192, SC_PIECES_MAX = 32 * 1024 };

struct sc_piece {
    struct sc_node node; /* by what sc_pieces_find makes of the text */
    struct sc_piece *next;
    json_t *value; /* nobody may change it */
    size_t run;    /* the last one that had it, as the reader counts from 1 */
    bool is_digested;
    struct sc_digest meaning; /* of the value, once a reader has set it */
    size_t length;
    char text[];
};

/* All zero is none. */
struct sc_pieces {
    struct sc_table table; /* of struct sc_piece */
    struct sc_piece *first;

    /* The pieces of the text that was parsed last. */
    struct {
        const char *at;
        struct sc_piece *piece;
    } places[SC_PIECES_OF_LINE_MAX];
    size_t place_count, place_asked; /* the next that is likely to be asked for */
};

void sc_pieces_free(struct sc_pieces *pieces);

/* The kept piece with this text; NULL: there is none, and `digest` is then for sc_pieces_add. */
struct sc_piece *sc_pieces_find(const struct sc_pieces *pieces, const char *text, size_t length,
                                struct sc_digest *digest);

/* Keeps a new piece: `text`, which was not found, and what it was parsed into. NULL: there are too
 * many, out of memory, or another text has the digest. */
struct sc_piece *sc_pieces_add(struct sc_pieces *pieces, const struct sc_digest *digest,
                               const char *text, size_t length, json_t *value);

/* Notes that the line which is being parsed has this piece at `at`. */
void sc_pieces_note(struct sc_pieces *pieces, const char *at, struct sc_piece *piece);

/* The piece of the text parsed last that has this value, or NULL. It is found at once where they
 * are asked for in their order. */
struct sc_piece *sc_pieces_of_value(struct sc_pieces *pieces, const json_t *value);

/* Packs the line that was parsed last: its text with references in place of its pieces. The caller
 * frees it. NULL: out of memory. */
char *sc_pieces_pack(const struct sc_pieces *pieces, const char *line, size_t size,
                     size_t *packed_size);

/* The byte that begins a reference in a packed line, which no JSON has. Behind it is the address of
 * the piece's value. */
enum { SC_PIECES_MARK = '\x01', SC_PIECES_REFERENCE_SIZE = 1 + sizeof(json_t *) };

#endif
