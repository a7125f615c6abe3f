/* The graph of everything that a program had the device do, drawn edge by edge from the rules in
 * track/order.h and walked afresh for every question: no clocks, no numbers.
 *
 * A node is one piece of work on a stream. What lies before a node is done when it is done; the
 * host knows of a node only after something has told it. Streams are never forgotten: a recycled
 * one is another. The caller keeps within ORACLE_NODES_MAX and ORACLE_STREAMS_MAX.
 */
#ifndef SC_TESTS_FUZZ_ORACLE_H
#define SC_TESTS_FUZZ_ORACLE_H

#include <stdbool.h>
#include <string.h>

enum {
    ORACLE_NODES_MAX = 512,
    ORACLE_STREAMS_MAX = 128,
    ORACLE_CONTEXTS_MAX = 2,
    ORACLE_EDGES_MAX = 2 * ORACLE_STREAMS_MAX + 3,
    ORACLE_HEALED_MAX = 48,
    ORACLE_NONE = -1,
};

enum oracle_kind { ORACLE_NONBLOCKING, ORACLE_BLOCKING, ORACLE_LEGACY };
enum oracle_scope { ORACLE_STREAM_SCOPE, ORACLE_LEGACY_SCOPE, ORACLE_CONTEXT_SCOPE };

struct oracle_node {
    int stream;
    bool done;  /* the host knows */
    bool alone; /* it joins no other stream */
    int edge_count, healed_count;
    int edges[ORACLE_EDGES_MAX];
    int healed[ORACLE_HEALED_MAX];
};

struct oracle_stream {
    enum oracle_kind kind;
    int context;
    int last; /* node */
    int due;  /* what its context waits for and its next node comes after */
};

struct oracle {
    int node_count, stream_count;
    struct oracle_node nodes[ORACLE_NODES_MAX];
    struct oracle_stream streams[ORACLE_STREAMS_MAX];
    int gates[ORACLE_CONTEXTS_MAX]; /* what contexts wait for */
};

struct oracle_set {
    bool has[ORACLE_NODES_MAX];
};

static inline void oracle_begin(struct oracle *oracle)
{
    oracle->node_count = oracle->stream_count = 0;
    for (int i = 0; i < ORACLE_CONTEXTS_MAX; i++)
        oracle->gates[i] = ORACLE_NONE;
}

static inline int oracle_add_stream(struct oracle *oracle, enum oracle_kind kind, int context)
{
    oracle->streams[oracle->stream_count] =
        (struct oracle_stream){kind, context, ORACLE_NONE, oracle->gates[context]};
    return oracle->stream_count++;
}

static inline void oracle_add_edge(struct oracle_node *node, int before)
{
    if (before != ORACLE_NONE)
        node->edges[node->edge_count++] = before;
}

/* Work comes after all earlier work of its stream; on a legacy stream also after all of the
 * context's blocking streams, and on a blocking one after all of the legacy stream. */
static inline void oracle_join(struct oracle *oracle, struct oracle_node *node)
{
    const struct oracle_stream *own = &oracle->streams[node->stream];
    for (int i = 0; i < oracle->stream_count; i++) {
        const struct oracle_stream *other = &oracle->streams[i];
        bool joins = own->kind == ORACLE_LEGACY
                         ? other->kind == ORACLE_BLOCKING
                         : own->kind == ORACLE_BLOCKING && other->kind == ORACLE_LEGACY;
        if (joins && other->context == own->context)
            oracle_add_edge(node, other->last);
    }
}

/* On no stream yet. */
static inline struct oracle_node *oracle_loose_node(struct oracle *oracle, int stream)
{
    struct oracle_node *node = &oracle->nodes[oracle->node_count++];
    node->stream = stream;
    node->done = node->alone = false;
    node->edge_count = node->healed_count = 0;
    return node;
}

static inline struct oracle_node *oracle_new_node(struct oracle *oracle, int stream)
{
    struct oracle_node *node = oracle_loose_node(oracle, stream);
    oracle_add_edge(node, oracle->streams[stream].last);
    oracle->streams[stream].last = oracle->node_count - 1;
    return node;
}

static inline int oracle_add_node(struct oracle *oracle, int stream)
{
    struct oracle_node *node = oracle_new_node(oracle, stream);
    oracle_join(oracle, node);
    oracle_add_edge(node, oracle->streams[stream].due);
    oracle->streams[stream].due = ORACLE_NONE;
    return oracle->node_count - 1;
}

/* The record of an event is work. What is due, and on a blocking stream the legacy stream's work,
 * the event alone comes after. */
static inline int oracle_add_record(struct oracle *oracle, int stream)
{
    struct oracle_node *work = oracle_new_node(oracle, stream);
    int worked = oracle->node_count - 1;
    struct oracle_node *event = oracle_loose_node(oracle, stream);
    oracle_join(oracle, oracle->streams[stream].kind == ORACLE_LEGACY ? work : event);
    oracle_add_edge(event, worked);
    oracle_add_edge(event, oracle->streams[stream].due);
    return oracle->node_count - 1;
}

/* For a record; ORACLE_NONE: there was none. It joins others on a legacy stream only. */
static inline void oracle_add_wait(struct oracle *oracle, int stream, int record)
{
    struct oracle_node *node = oracle_new_node(oracle, stream);
    oracle_add_edge(node, record);
    if (record != ORACLE_NONE && oracle->streams[stream].kind == ORACLE_LEGACY)
        oracle_join(oracle, node);
}

/* An event of a context, named by any stream of it, is behind all its streams and what is due to
 * them; when a context waits for a record, the next work of each comes after that, also of those
 * to come. */
static inline int oracle_add_context_record(struct oracle *oracle, int stream)
{
    struct oracle_node *node = oracle_loose_node(oracle, stream);
    for (int i = 0; i < oracle->stream_count; i++)
        if (oracle->streams[i].context == oracle->streams[stream].context) {
            oracle_add_edge(node, oracle->streams[i].last);
            oracle_add_edge(node, oracle->streams[i].due);
        }
    return oracle->node_count - 1;
}

static inline void oracle_add_context_wait(struct oracle *oracle, int stream, int record)
{
    int context = oracle->streams[stream].context;
    struct oracle_node *gate = oracle_loose_node(oracle, stream);
    oracle_add_edge(gate, oracle->gates[context]);
    oracle_add_edge(gate, record);
    oracle->gates[context] = oracle->node_count - 1;
    for (int i = 0; i < oracle->stream_count; i++)
        if (oracle->streams[i].context == context)
            oracle->streams[i].due = oracle->gates[context];
}

/* An edge that the program did not ask for. It stands for the operation and what was before it on
 * its own stream (on a legacy stream, in its context's blocking ones), and for nothing that those
 * had waited for: to the program nothing of it is ordered. */
static inline void oracle_heal(struct oracle *oracle, int node, int before)
{
    struct oracle_node *healed = &oracle->nodes[node];
    for (int i = 0; i < healed->healed_count; i++)
        if (healed->healed[i] == before)
            return;
    if (healed->healed_count < ORACLE_HEALED_MAX)
        healed->healed[healed->healed_count++] = before;
}

static inline void oracle_reach_healed(const struct oracle *oracle, int before,
                                       struct oracle_set *set)
{
    const struct oracle_stream *of = &oracle->streams[oracle->nodes[before].stream];
    for (int i = 0; i <= before; i++) {
        const struct oracle_stream *other = &oracle->streams[oracle->nodes[i].stream];
        set->has[i] |=
            other == of || (of->kind == ORACLE_LEGACY && !oracle->nodes[before].alone &&
                            other->kind == ORACLE_BLOCKING && other->context == of->context);
    }
}

static inline void oracle_walk(const struct oracle *oracle, int from, bool heals,
                               struct oracle_set *set)
{
    struct oracle_set walked = {{false}};
    int queue[ORACLE_NODES_MAX];
    int length = 0;
    if (from == ORACLE_NONE)
        return;
    walked.has[from] = true;
    queue[length++] = from;
    while (length > 0) {
        const struct oracle_node *node = &oracle->nodes[queue[--length]];
        for (int i = 0; i < node->healed_count && heals; i++)
            oracle_reach_healed(oracle, node->healed[i], set);
        for (int i = 0; i < node->edge_count; i++)
            if (!walked.has[node->edges[i]]) {
                walked.has[node->edges[i]] = true;
                queue[length++] = node->edges[i];
            }
    }
    for (int i = 0; i <= from; i++)
        set->has[i] |= walked.has[i];
}

/* Adds `from` and all that comes before it. */
static inline void oracle_reach(const struct oracle *oracle, int from, struct oracle_set *set)
{
    oracle_walk(oracle, from, true, set);
}

/* The same by the order alone that the program asked for. */
static inline void oracle_reach_asked(const struct oracle *oracle, int from, struct oracle_set *set)
{
    oracle_walk(oracle, from, false, set);
}

/* What a synchronise of this scope waits for, as of now. */
static inline void oracle_reach_scope(const struct oracle *oracle, int stream,
                                      enum oracle_scope scope, struct oracle_set *set)
{
    const struct oracle_stream *own = &oracle->streams[stream];
    memset(set, 0, sizeof *set);
    if (scope == ORACLE_STREAM_SCOPE)
        oracle_reach(oracle, own->last, set);
    for (int i = 0; scope != ORACLE_STREAM_SCOPE && i < oracle->stream_count; i++) {
        const struct oracle_stream *other = &oracle->streams[i];
        if (other->context == own->context &&
            (scope == ORACLE_CONTEXT_SCOPE || other->kind != ORACLE_NONBLOCKING))
            oracle_reach(oracle, other->last, set);
    }
    if (scope == ORACLE_CONTEXT_SCOPE)
        oracle_reach(oracle, oracle->gates[own->context], set);
}

static inline void oracle_know(struct oracle *oracle, const struct oracle_set *set)
{
    for (int i = 0; i < oracle->node_count; i++)
        oracle->nodes[i].done |= set->has[i];
}

#endif
