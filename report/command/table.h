/* A hash table of records that are found by words and numbers, of which it keeps only a digest.
 *
 * The digest has 128 bits and a random key: nobody can write a report in which two hazards have one
 * digest. */
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

/* Two random words, the same in all of this process. */
const uint64_t *sc_digest_key(void);

/* Without a random key: equal words have one digest everywhere, and whoever wants to can find words
 * that have the digest of others. */
void sc_digest_begin_fixed(struct sc_digester *digester);

void sc_digest_word(struct sc_digester *digester, const char *word);
/* As a word of these bytes, which have no NUL among them. */
void sc_digest_bytes(struct sc_digester *digester, const char *bytes, size_t count);
void sc_digest_number(struct sc_digester *digester, int64_t number);
struct sc_digest sc_digest_end(struct sc_digester *digester);

/* The first member of a record. */
struct sc_node {
    struct sc_digest digest;
    struct sc_node *next; /* of those in the same bucket */
};

/* All zero is an empty table. The records are the caller's. */
struct sc_table {
    struct sc_node **buckets;
    size_t bucket_count, count;
};

/* The record with this digest, or NULL. */
struct sc_node *sc_table_find(const struct sc_table *table, const struct sc_digest *digest);

/* Pre: `node->digest` is set, and no record of the table has that digest. False when out of
 * memory. */
bool sc_table_add(struct sc_table *table, struct sc_node *node);
void sc_table_remove(struct sc_table *table, const struct sc_node *node);

void sc_table_free(struct sc_table *table);

#endif
