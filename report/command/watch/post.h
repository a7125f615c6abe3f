/* Sends an HTTP POST by running the program curl as a child process: curl handles TLS, proxies and
 * names of hosts, and the command does not have to wait. The body and the headers, which may be
 * secret, are not among curl's arguments. */
#ifndef SC_REPORT_COMMAND_WATCH_POST_H
#define SC_REPORT_COMMAND_WATCH_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All zero is none. */
struct sc_post {
    pid_t child;    /* 0: no request is under way */
    int alive;      /* a descriptor that becomes readable when the child has ended */
    int out, error; /* files in memory, for the child's stdout and stderr */
};

struct sc_post_answer {
    int status;        /* the status of HTTP; 0: there was no answer */
    int retry_after_s; /* -1: the answer does not say */
    char *words;       /* the body, or why there is no answer; the caller frees it */
};

/* Returns the path of curl, which the caller frees; NULL: there is none. */
char *sc_post_find_curl(void);

/* Begins to send `body` to the URL. Uses what OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE,
 * _CLIENT_CERTIFICATE and _CLIENT_KEY of the environment say. Returns false on failure, with errno.
 */
bool sc_post_begin(struct sc_post *post, const char *curl, const char *url, const char *body);

/* Returns false while the request is under way. */
bool sc_post_is_over(struct sc_post *post);

/* Returns the answer of a request that is over, and frees what was kept for it. */
struct sc_post_answer sc_post_take(struct sc_post *post);

/* Ends a request that is under way. */
void sc_post_stop(struct sc_post *post);

/* Decodes the answer that curl has written: headers, the body, and a line with the status. For
 * tests. */
struct sc_post_answer sc_post_read_answer(const char *text, size_t size);

#endif
