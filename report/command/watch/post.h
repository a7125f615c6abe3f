/* Sends a POST by the program curl, in a child process: curl knows TLS, proxies and names of hosts,
 * and the command goes on meanwhile. The body and the headers, which may be secret, are not among
 * its arguments. */
#ifndef SC_REPORT_COMMAND_WATCH_POST_H
#define SC_REPORT_COMMAND_WATCH_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All zero is none. */
struct sc_post {
    pid_t child;    /* 0: none is under way */
    int alive;      /* readable once the child has ended */
    int out, error; /* files in memory */
};

struct sc_post_answer {
    int status;        /* of HTTP; 0: there was no answer */
    int retry_after_s; /* -1: nothing was said */
    char *words;       /* the body, or why there was none; the caller frees it */
};

/* The path of curl; NULL: there is none. The caller frees it. */
char *sc_post_find_curl(void);

/* Begins to send `body` to the URL. What OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE,
 * _CLIENT_CERTIFICATE and _CLIENT_KEY of the environment say is heeded. False with errno. */
bool sc_post_begin(struct sc_post *post, const char *curl, const char *url, const char *body);

/* False while it is under way. */
bool sc_post_is_over(struct sc_post *post);

/* Post: it is over, and nothing is left of it. */
struct sc_post_answer sc_post_take(struct sc_post *post);

/* Ends what is under way. */
void sc_post_stop(struct sc_post *post);

/* The answer that curl wrote: headers, the body, and a line with the status. For tests. */
struct sc_post_answer sc_post_read_answer(const char *text, size_t size);

#endif
