#include "report/command/memory_sites.h"

#include "report/command/fields.h"
#include "report/command/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sc_memory_sites_free(struct sc_memory_sites *sites)
{
    sc_table_free(&sites->table);
    sc_scratch_free(&sites->scratch);
    *sites = (struct sc_memory_sites){0};
}

/* Finds, or adds, the site in the code that has this digest. */
static struct sc_memory_site *find_or_add(struct sc_memory_sites *sites,
                                          const struct sc_digest *digest, const char *words)
{
    struct sc_node *node = sc_table_find(&sites->table, digest);
    if (node)
        return (struct sc_memory_site *)(void *)node;
    struct sc_memory_site *site = sc_scratch_take(&sites->scratch, sizeof *site);
    site->node.digest = *digest;
    site->words = sc_scratch_print(&sites->scratch, "%s", words);
    if (sc_table_add(&sites->table, &site->node)) {
        *(sites->last ? &sites->last->next : &sites->first) = site;
        sites->last = site;
    }
    return site;
}

/* Adds what an account holds to one side, now or before. */
static void add(struct sc_memory_amount *amount, const struct sc_memory_account *account)
{
    sc_shown_memory_add(&amount->bytes, account->bytes);
    sc_shown_memory_add(&amount->blocks, account->blocks);
    sc_shown_memory_add(&amount->peak_bytes, account->peak_bytes);
}

/* Adds what each place has allocated to one side of the comparison. */
void sc_memory_sites_add(struct sc_memory_sites *sites, enum sc_memory_side side,
                         const struct sc_memory *memory)
{
    sites->runs[side] += memory->record != NULL;
    for (size_t i = 0; i < memory->account_count; i++) {
        const struct sc_memory_account *account = &memory->accounts[i];
        add(&find_or_add(sites, &account->site, account->words)->sides[side], account);
    }
}

/* Adds what each label of the program's has allocated to one side of the comparison. */
void sc_memory_sites_add_labels(struct sc_memory_sites *sites, enum sc_memory_side side,
                                const struct sc_memory *memory)
{
    for (size_t i = 0; i < memory->account_count; i++) {
        const struct sc_memory_account *account = &memory->accounts[i];
        struct sc_digester digester;
        if (!account->label || !account->is_own)
            continue;
        sc_digest_begin(&digester);
        sc_digest_word(&digester, account->label);
        struct sc_digest digest = sc_digest_end(&digester);
        add(&find_or_add(sites, &digest, account->label)->sides[side], account);
    }
}

/* Adds what all present processes hold, to compare with the baseline. */
void sc_memory_sites_add_all(struct sc_memory_sites *sites, struct sc_model *model)
{
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_memory memory = sc_shown_memory_of_process(model, sc_model_run(model, i));
        sc_memory_sites_add(sites, SC_MEMORY_NOW, &memory);
    }
}

/* ---- as JSON ---- */

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Returns the place as JSON, of which a baseline is read. */
json_t *sc_memory_site_write(const struct sc_memory_sites *sites, const struct sc_memory_site *site)
{
    const struct sc_memory_amount *before = &site->sides[SC_MEMORY_BEFORE];
    const struct sc_memory_amount *now = &site->sides[SC_MEMORY_NOW];
    char fingerprint[33];
    json_t *object = json_object();
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64 "%016" PRIx64,
             site->node.digest.words[0], site->node.digest.words[1]);
    json_object_set_new(object, "fingerprint", json_string(fingerprint));
    json_object_set_new(object, "title", json_string(site->words));
    json_object_set_new(object, "bytes", number(now->bytes));
    json_object_set_new(object, "blocks", number(now->blocks));
    json_object_set_new(object, "peak_bytes", number(now->peak_bytes));
    if (sites->runs[SC_MEMORY_BEFORE] > 0) {
        json_object_set_new(object, "baseline_bytes", number(before->bytes));
        json_object_set_new(object, "baseline_blocks", number(before->blocks));
        json_object_set_new(object, "baseline_peak_bytes", number(before->peak_bytes));
    }
    return object;
}

/* Reads the digest of a site from a baseline. Returns false if the text is none. */
static bool read_fingerprint(const char *text, struct sc_digest *digest)
{
    int end = 0;
    return text &&
           sscanf(text, "%16" SCNx64 "%16" SCNx64 "%n", &digest->words[0], &digest->words[1],
                  &end) == 2 &&
           text[end] == '\0';
}

/* Reads back what sc_memory_site_write has written. Returns false if it is damaged. */
bool sc_memory_sites_read(struct sc_memory_sites *sites, enum sc_memory_side side,
                          const json_t *written)
{
    struct sc_digest digest;
    if (!read_fingerprint(sc_field_string(written, "fingerprint", NULL), &digest))
        return false;
    struct sc_memory_site *site =
        find_or_add(sites, &digest, sc_field_string(written, "title", "?"));
    const struct sc_memory_account account = {
        .bytes = sc_shown_memory_bytes(written, "bytes"),
        .blocks = sc_shown_memory_bytes(written, "blocks"),
        .peak_bytes = sc_shown_memory_bytes(written, "peak_bytes"),
    };
    add(&site->sides[side], &account);
    return true;
}

/* ---- differences ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Returns by how much the two sides differ in bytes; sorting and selecting use it. */
static uint64_t bytes_apart(const struct sc_memory_site *site)
{
    return distance(site->sides[SC_MEMORY_NOW].bytes, site->sides[SC_MEMORY_BEFORE].bytes);
}

static uint64_t blocks_apart(const struct sc_memory_site *site)
{
    return distance(site->sides[SC_MEMORY_NOW].blocks, site->sides[SC_MEMORY_BEFORE].blocks);
}

static uint64_t peak_apart(const struct sc_memory_site *site)
{
    return distance(site->sides[SC_MEMORY_NOW].peak_bytes,
                    site->sides[SC_MEMORY_BEFORE].peak_bytes);
}

static int descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

/* Compares two places for qsort: the one with the greatest change comes first. */
static int by_change(const void *a, const void *b)
{
    const struct sc_memory_site *const *left = a, *const *right = b;
    int order = descending(bytes_apart(*left), bytes_apart(*right));
    if (order == 0)
        order = descending(peak_apart(*left), peak_apart(*right));
    if (order == 0)
        order = descending(blocks_apart(*left), blocks_apart(*right));
    return order != 0 ? order : strcmp((*left)->words, (*right)->words);
}

/* Does the call stack hold another amount than before? with_peak: the peak counts, too. */
static bool has_changed(const struct sc_memory_site *site, bool with_peak)
{
    return bytes_apart(site) > 0 || blocks_apart(site) > 0 || (with_peak && peak_apart(site) > 0);
}

/* Returns the places at which the two sides differ, the greatest change first. */
struct sc_memory_site **sc_memory_sites_changed(struct sc_memory_sites *sites, bool with_peak,
                                                size_t *count)
{
    struct sc_memory_site **changed =
        sc_scratch_take(&sites->scratch, (sites->table.count + 1) * sizeof(void *));
    *count = 0;
    for (struct sc_memory_site *site = sites->first; site; site = site->next)
        if (has_changed(site, with_peak))
            changed[(*count)++] = site;
    qsort(changed, *count, sizeof *changed, by_change);
    return changed;
}

/* Returns in words how the amount has changed: "+2 MB, +3 blocks: ...". */
const char *sc_memory_site_words(struct sc_scratch *scratch, const struct sc_memory_site *site,
                                 bool with_peak)
{
    const struct sc_memory_amount *before = &site->sides[SC_MEMORY_BEFORE];
    const struct sc_memory_amount *now = &site->sides[SC_MEMORY_NOW];
    const char *words = sc_shown_memory_change(scratch, before->bytes, now->bytes);
    uint64_t blocks = blocks_apart(site);
    if (blocks > 0)
        words = sc_scratch_print(scratch, "%s, %c%" PRIu64 " block%s", words,
                                 now->blocks < before->blocks ? '-' : '+', blocks,
                                 blocks == 1 ? "" : "s");
    if (with_peak && peak_apart(site) > 0)
        words =
            sc_scratch_print(scratch, "%s, %s at the peak", words,
                             sc_shown_memory_change(scratch, before->peak_bytes, now->peak_bytes));
    return sc_scratch_print(scratch, "%s: %s", words, site->words);
}
