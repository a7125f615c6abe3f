/* Objects that many lines of reports have alike: the frames of stacks.
 *
 * Each is kept once, as text and as JSON. A line that is kept refers to them, which takes a tenth
 * of its memory, and is parsed again in a third of the time. A line whose frames are all its own is
 * kept as it is.
 */
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

/* The piece of this text, or NULL. `digest` is for sc_pieces_add then. */
struct sc_piece *sc_pieces_find(const struct sc_pieces *pieces, const char *text, size_t length,
                                struct sc_digest *digest);

/* Keeps what `text`, which was not found, was parsed into. NULL where there are too many, no memory
 * is left, or another text has the digest. */
struct sc_piece *sc_pieces_add(struct sc_pieces *pieces, const struct sc_digest *digest,
                               const char *text, size_t length, json_t *value);

/* Notes that the piece stands at `at` of the text that is parsed. */
void sc_pieces_note(struct sc_pieces *pieces, const char *at, struct sc_piece *piece);

/* The piece of the text parsed last that has this value, or NULL. It is found at once where they
 * are asked for in their order. */
struct sc_piece *sc_pieces_of_value(struct sc_pieces *pieces, const json_t *value);

/* The line that was parsed last, with references to its pieces, and its new size. The caller frees
 * it. NULL when out of memory. */
char *sc_pieces_pack(const struct sc_pieces *pieces, const char *line, size_t size,
                     size_t *packed_size);

/* What begins a reference: no JSON has this byte. The address of the piece's value is behind it. */
enum { SC_PIECES_MARK = '\x01', SC_PIECES_REFERENCE_SIZE = 1 + sizeof(json_t *) };

#endif
