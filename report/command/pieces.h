/* Keeps JSON objects that many lines of reports have in common (frames of stacks), each only once.
 *
 * Each of these pieces is kept as text and as JSON. A line that is kept for later refers to them:
 * this takes a tenth of the memory, and a third of the time to parse it again. A line that shares
 * no piece is kept as it is. */
#ifndef SC_REPORT_COMMAND_PIECES_H
#define SC_REPORT_COMMAND_PIECES_H

#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* How many pieces one line may have, and how many are kept at most. */
enum { SC_PIECES_OF_LINE_MAX = 192, SC_PIECES_MAX = 32 * 1024 };

struct sc_piece {
    struct sc_node node; /* found by the digest of the text, as sc_pieces_find makes it */
    struct sc_piece *next;
    json_t *value; /* nobody may change it */
    size_t run;    /* the last run that has it, as the reader counts them from 1 */
    bool is_digested;
    struct sc_digest meaning; /* set by a reader, if is_digested */
    size_t length;
    char text[];
};

/* All zero is none. */
struct sc_pieces {
    struct sc_table table; /* of struct sc_piece */
    struct sc_piece *first;

    /* The pieces of the text that was parsed last, with their positions. */
    struct {
        const char *at;
        struct sc_piece *piece;
    } places[SC_PIECES_OF_LINE_MAX];
    size_t place_count, place_asked; /* place_asked: the place that is probably asked for next */
};

void sc_pieces_free(struct sc_pieces *pieces);

/* Returns the kept piece with this text; NULL: there is none, and `digest` is to be passed to
 * sc_pieces_add. */
struct sc_piece *sc_pieces_find(const struct sc_pieces *pieces, const char *text, size_t length,
                                struct sc_digest *digest);

/* Adds a piece: `text`, for which sc_pieces_find has returned NULL, and the value that was parsed
 * from it. Returns NULL if there are too many, there is no memory, or another text has the same
 * digest. */
struct sc_piece *sc_pieces_add(struct sc_pieces *pieces, const struct sc_digest *digest,
                               const char *text, size_t length, json_t *value);

/* Notes that the line which is being parsed has this piece at the position `at`. */
void sc_pieces_note(struct sc_pieces *pieces, const char *at, struct sc_piece *piece);

/* Returns the piece, in the text that was parsed last, that has this value, or NULL. Quick if
 * values are asked for in their order. */
struct sc_piece *sc_pieces_of_value(struct sc_pieces *pieces, const json_t *value);

/* Packs the line that was parsed last: replaces its pieces by references. The caller frees the
 * text. NULL: no memory. */
char *sc_pieces_pack(const struct sc_pieces *pieces, const char *line, size_t size,
                     size_t *packed_size);

/* A reference in a packed line: a byte that JSON never has, followed by the address of the piece's
 * value. */
enum { SC_PIECES_MARK = '\x01', SC_PIECES_REFERENCE_SIZE = 1 + sizeof(json_t *) };

#endif
