/* A hash table of records that are found by words and numbers, of which it keeps only a digest.
 *
 * The digest has 128 bits and a random key: so nobody can write a report in which two hazards have
 * the same digest. */
#ifndef SC_REPORT_COMMAND_TABLE_H
#define SC_REPORT_COMMAND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_digest {
    uint64_t words[2];
};

/* Makes a digest of words and numbers, one after the other. */
struct sc_digester {
    uint64_t state[4], tail;
    size_t size;
};

void sc_digest_begin(struct sc_digester *digester);

/* Returns two random words, constant in this process. */
const uint64_t *sc_digest_key(void);

/* Begins a digest without a random key: equal words have the same digest in every process, and
 * words with equal digests can be constructed. */
void sc_digest_begin_fixed(struct sc_digester *digester);

void sc_digest_word(struct sc_digester *digester, const char *word);
/* As sc_digest_word, for a word of these bytes, which contain no NUL. */
void sc_digest_bytes(struct sc_digester *digester, const char *bytes, size_t count);
void sc_digest_number(struct sc_digester *digester, int64_t number);
struct sc_digest sc_digest_end(struct sc_digester *digester);

/* The first member of a record. */
struct sc_node {
    struct sc_digest digest;
    struct sc_node *next; /* the next record in the same bucket */
};

/* All zero is an empty table. The records are the caller's. */
struct sc_table {
    struct sc_node **buckets;
    size_t bucket_count, count;
};

/* Returns the record with this digest, or NULL. */
struct sc_node *sc_table_find(const struct sc_table *table, const struct sc_digest *digest);

/* Adds a record. Pre: `node->digest` is set, and no record of the table has that digest. Returns
 * false if there is no memory. */
bool sc_table_add(struct sc_table *table, struct sc_node *node);
void sc_table_remove(struct sc_table *table, const struct sc_node *node);

void sc_table_free(struct sc_table *table);

#endif
