#define _GNU_SOURCE 1
#include "report/command/table.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* SipHash-2-4 with 128 bits (Aumasson and Bernstein). */

static inline uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

/* Returns one step of SipHash. */
static inline void mix(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

/* Takes a word of the input into the state (SipHash). */
static inline void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

/* Reads a word at any alignment, the same on all machines. */
static uint64_t word_at(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

/* Takes a byte, and the word that it completes. */
static void absorb_byte(struct sc_digester *digester, unsigned char byte)
{
    digester->tail |= (uint64_t)byte << 8 * (digester->size % 8);
    if (++digester->size % 8 != 0)
        return;
    absorb(digester->state, digester->tail);
    digester->tail = 0;
}

/* Takes bytes into the hash, eight at a time. */
static void absorb_bytes(struct sc_digester *digester, const void *bytes, size_t count)
{
    const unsigned char *at = bytes, *end = at + count;
    size_t held = 8 * (digester->size % 8);
    uint64_t tail = digester->tail, v[4]; /* in registers */
    memcpy(v, digester->state, sizeof v);
    for (; end - at >= 8; at += 8) {
        uint64_t word = word_at(at);
        absorb(v, tail | word << held);
        tail = held > 0 ? word >> (64 - held) : 0;
    }
    memcpy(digester->state, v, sizeof v);
    digester->tail = tail;
    digester->size += count - (size_t)(end - at);
    while (at < end)
        absorb_byte(digester, *at++);
}

/* Returns a word of the result (SipHash). */
static uint64_t squeeze(uint64_t v[4])
{
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Returns the random key for digests in this process. It keeps a file from being written so that
 * all its records fall into one bucket. */
const uint64_t *sc_digest_key(void)
{
    static uint64_t words[2];
    static bool drawn;
    if (!drawn && getrandom(words, sizeof words, 0) != sizeof words)
        words[0] = (uintptr_t)&words; /* where there is no better chance */
    drawn = true;
    return words;
}

/* Sets the state from the key, as SipHash-2-4 with 128 bits does. */
static void begin(struct sc_digester *digester, const uint64_t k[2])
{
    *digester = (struct sc_digester){
        .state = {k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d ^ 0xee,
                  k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573},
    };
}

/* Begins a digest with this run's random key, so that nobody can make a report whose parts all
 * fall into one bucket. */
void sc_digest_begin(struct sc_digester *digester)
{
    begin(digester, sc_digest_key());
}

/* Begins a digest that is the same in every run, for what is written to files. */
void sc_digest_begin_fixed(struct sc_digester *digester)
{
    static const uint64_t zeros[2];
    begin(digester, zeros);
}

/* Adds a word with its NUL, so that "ab", "c" differs from "a", "bc". */
void sc_digest_word(struct sc_digester *digester, const char *word)
{
    absorb_bytes(digester, word, strlen(word) + 1);
}

/* Adds a text, ended so that "ab", "c" differs from "a", "bc". */
void sc_digest_bytes(struct sc_digester *digester, const char *bytes, size_t count)
{
    absorb_bytes(digester, bytes, count);
    absorb_bytes(digester, "", 1);
}

void sc_digest_number(struct sc_digester *digester, int64_t number)
{
    absorb_bytes(digester, &number, sizeof number);
}

/* Returns the digest of all that was added (SipHash with 128 bits). */
struct sc_digest sc_digest_end(struct sc_digester *digester)
{
    struct sc_digest digest;
    uint64_t *v = digester->state;
    absorb(v, digester->tail | (uint64_t)digester->size << 56);
    v[2] ^= 0xee;
    digest.words[0] = squeeze(v);
    v[1] ^= 0xdd;
    digest.words[1] = squeeze(v);
    return digest;
}

/* Returns the bucket of the digest; their number is a power of two. */
static struct sc_node **bucket_of(const struct sc_table *table, const struct sc_digest *digest)
{
    return &table->buckets[digest->words[0] & (table->bucket_count - 1)];
}

/* Returns the node with the digest; NULL: none. */
struct sc_node *sc_table_find(const struct sc_table *table, const struct sc_digest *digest)
{
    struct sc_node *node = table->bucket_count > 0 ? *bucket_of(table, digest) : NULL;
    while (node && memcmp(&node->digest, digest, sizeof *digest) != 0)
        node = node->next;
    return node;
}

/* Doubles the number of buckets. Returns false if memory runs out. */
static bool grow(struct sc_table *table)
{
    struct sc_table larger = {.bucket_count =
                                  table->bucket_count > 0 ? 2 * table->bucket_count : 64,
                              .count = table->count};
    larger.buckets = calloc(larger.bucket_count, sizeof(struct sc_node *));
    if (!larger.buckets)
        return false;
    for (size_t i = 0; i < table->bucket_count; i++) {
        for (struct sc_node *node = table->buckets[i], *next; node; node = next) {
            struct sc_node **bucket = bucket_of(&larger, &node->digest);
            next = node->next;
            node->next = *bucket;
            *bucket = node;
        }
    }
    free(table->buckets);
    *table = larger;
    return true;
}

/* Adds the node, whose digest is not there yet. False: no memory. */
bool sc_table_add(struct sc_table *table, struct sc_node *node)
{
    if (table->count == table->bucket_count && !grow(table))
        return false;
    struct sc_node **bucket = bucket_of(table, &node->digest);
    node->next = *bucket;
    *bucket = node;
    table->count++;
    return true;
}

/* Removes a node that is in the table. */
void sc_table_remove(struct sc_table *table, const struct sc_node *node)
{
    struct sc_node **at = bucket_of(table, &node->digest);
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    table->count--;
}

/* Frees the table, and not its nodes. */
void sc_table_free(struct sc_table *table)
{
    free(table->buckets);
    *table = (struct sc_table){0};
}
