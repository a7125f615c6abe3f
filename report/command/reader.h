/* Reads reports back and merges equal hazards, within a run and over all runs, for the command.
 *
 * A report may be cut anywhere, since the process may have been killed: what cannot be read is
 * told with file and line, counted, and passed over.
 */
#ifndef SC_REPORT_COMMAND_READER_H
#define SC_REPORT_COMMAND_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_reader {
    json_t *runs;    /* array of {"file","run","summary","bad_lines"}; run, summary may be null;
                      * with "missed", an array of `coverage` lines, and "cupti", where there are */
    json_t *hazards; /* object: what makes hazards equal -> hazard line, "count" over all runs,
                      * "runs" how many runs had it, "certainty" the strongest, "timing" the line
                      * of the occurrence that had longest left to run, where there is one */
    bool hazardous;  /* a hazard line or a summary says that there were hazards */
    bool quiet;      /* says nothing about bad lines */
};

/* false when out of memory; sc_reader_free is due either way. */
bool sc_reader_init(struct sc_reader *reader);
void sc_reader_free(struct sc_reader *reader);

/* Adds the report in `bytes`, called `name` in messages. Returns false if it is no report: there is
 * not one good line in it. */
bool sc_reader_add(struct sc_reader *reader, const char *name, const char *bytes, size_t size);

/* Reads a file whole; "-" is standard input. Returns NULL and says why on failure; else the caller
 * frees it. */
char *sc_reader_load(const char *path, size_t *size);

/* Fields of untrusted JSON: `otherwise` or 0 where there is none of that type. */
const char *sc_reader_string(const json_t *object, const char *key, const char *otherwise);
json_int_t sc_reader_number(const json_t *object, const char *key);

#endif
