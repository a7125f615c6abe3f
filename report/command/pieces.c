#define _GNU_SOURCE 1
#include "report/command/pieces.h"

#include <stdlib.h>
#include <string.h>

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

struct sc_digest sc_pieces_digest(const char *text, size_t length)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_bytes(&digester, text, length);
    return sc_digest_end(&digester);
}

struct sc_piece *sc_pieces_find(const struct sc_pieces *pieces, const struct sc_digest *digest)
{
    return (struct sc_piece *)(void *)sc_table_find(&pieces->table, digest);
}

struct sc_piece *sc_pieces_add(struct sc_pieces *pieces, const struct sc_digest *digest,
                               const char *text, size_t length, json_t *value)
{
    if (pieces->table.count == SC_PIECES_MAX)
        return NULL;
    struct sc_piece *piece = malloc(sizeof *piece + length);
    if (!piece)
        return NULL;
    piece->node.digest = *digest;
    piece->length = length;
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

void sc_pieces_note(struct sc_pieces *pieces, const char *at, struct sc_piece *piece)
{
    if (pieces->place_count == SC_PIECES_OF_LINE_MAX)
        return;
    pieces->places[pieces->place_count].at = at;
    pieces->places[pieces->place_count++].piece = piece;
}

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

char *sc_pieces_pack(const struct sc_pieces *pieces, const char *line, size_t size,
                     size_t *packed_size)
{
    const char *from = line, *end = line + size;
    char *packed = malloc(size + 1), *to = packed;
    for (size_t i = 0; packed && i < pieces->place_count; i++) {
        const char *at = pieces->places[i].at;
        to = mempcpy(to, from, (size_t)(at - from));
        *to++ = SC_PIECES_MARK;
        to = mempcpy(to, &pieces->places[i].piece, sizeof pieces->places[i].piece);
        from = at + pieces->places[i].piece->length;
    }
    if (!packed)
        return NULL;
    to = mempcpy(to, from, (size_t)(end - from));
    *packed_size = (size_t)(to - packed);
    char *fitting = realloc(packed, *packed_size + 1);
    return fitting ? fitting : packed;
}
