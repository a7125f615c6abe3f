#define _GNU_SOURCE 1
#include "report/command/pieces.h"

#include "report/command/eight_bytes.h"

#include <stdlib.h>
#include <string.h>

/* Frees all pieces, parts of lines that were parsed once. */
void sc_pieces_free(struct sc_pieces *pieces)
{
    while (pieces->first) {
        struct sc_piece *piece = pieces->first;
        pieces->first = piece->next;
        json_decref(piece->value);
        free(piece);
    }
    sc_table_free(&pieces->table);
}

/* Returns the digest of a piece's text. It is quick to compute, and has a random key, so that
 * nobody can write a report whose pieces all fall into one bucket. Different texts may have the
 * same digest, so callers also compare the texts. */
static struct sc_digest digest_of(const char *text, size_t length)
{
    const uint64_t *key = sc_digest_key();
    uint64_t hash = key[0] ^ length;
    for (; length >= 8; text += 8, length -= 8) {
        hash = (hash ^ sc_eight_bytes_at(text)) * (key[1] | 1);
        hash ^= hash >> 32;
    }
    hash = (hash ^ sc_eight_bytes_of(text, length)) * (key[1] | 1);
    return (struct sc_digest){{hash ^ hash >> 32}};
}

static bool is_of(const struct sc_piece *piece, const char *text, size_t length)
{
    return piece->length == length && memcmp(piece->text, text, length) == 0;
}

/* Finds the piece (a JSON object that many lines have, such as a frame) with the same text; NULL:
 * there is none. *digest is what sc_pieces_add needs. */
struct sc_piece *sc_pieces_find(const struct sc_pieces *pieces, const char *text, size_t length,
                                struct sc_digest *digest)
{
    *digest = digest_of(text, length);
    struct sc_piece *piece = (struct sc_piece *)(void *)sc_table_find(&pieces->table, digest);
    return piece && is_of(piece, text, length) ? piece : NULL;
}

/* Keeps a JSON object for lines to share, unless there are too many. Returns NULL if it is not
 * kept. */
struct sc_piece *sc_pieces_add(struct sc_pieces *pieces, const struct sc_digest *digest,
                               const char *text, size_t length, json_t *value)
{
    if (pieces->table.count == SC_PIECES_MAX || sc_table_find(&pieces->table, digest))
        return NULL;
    struct sc_piece *piece = malloc(sizeof *piece + length);
    if (!piece)
        return NULL;
    piece->node.digest = *digest;
    piece->length = length;
    piece->run = 0;
    piece->is_digested = false;
    memcpy(piece->text, text, length);
    if (!sc_table_add(&pieces->table, &piece->node)) {
        free(piece);
        return NULL;
    }
    piece->value = json_incref(value);
    piece->next = pieces->first;
    pieces->first = piece;
    return piece;
}

/* Notes which piece stands where in the present line; more than fit are not noted, and their text
 * stays as it is. */
void sc_pieces_note(struct sc_pieces *pieces, const char *at, struct sc_piece *piece)
{
    if (pieces->place_count == SC_PIECES_OF_LINE_MAX)
        return;
    pieces->places[pieces->place_count].at = at;
    pieces->places[pieces->place_count++].piece = piece;
}

/* Returns the shared piece of this line that has the value. Pieces are mostly asked for in turn,
 * so the search goes on where it ended. */
struct sc_piece *sc_pieces_of_value(struct sc_pieces *pieces, const json_t *value)
{
    for (size_t tries = 0; tries < pieces->place_count; tries++) {
        if (pieces->place_asked >= pieces->place_count)
            pieces->place_asked = 0;
        struct sc_piece *piece = pieces->places[pieces->place_asked++].piece;
        if (piece->value == value)
            return piece;
    }
    return NULL;
}

/* Returns the line with a mark and a pointer in place of each shared object, which is much
 * shorter. NULL: no memory. */
char *sc_pieces_pack(const struct sc_pieces *pieces, const char *line, size_t size,
                     size_t *packed_size)
{
    const char *from = line, *end = line + size;
    char *packed = malloc(size + 1), *to = packed;
    for (size_t i = 0; packed && i < pieces->place_count; i++) {
        const char *at = pieces->places[i].at;
        to = mempcpy(to, from, (size_t)(at - from));
        *to++ = SC_PIECES_MARK;
        to = mempcpy(to, &pieces->places[i].piece->value, sizeof(json_t *));
        from = at + pieces->places[i].piece->length;
    }
    if (!packed)
        return NULL;
    to = mempcpy(to, from, (size_t)(end - from));
    *packed_size = (size_t)(to - packed);
    char *fitting = realloc(packed, *packed_size + 1);
    return fitting ? fitting : packed;
}
