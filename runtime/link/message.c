/* message.c - makes messages between ranks, counts their holders, and turns them into bytes and back (message.h): for runtime/ranks/, and for the simulated
 * manager in compiler/cluster/. */
#include "runtime/link/message.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/link/link.h"

#define HEAD_BYTES (DFR_BYTES_MAGIC + 8 * 8)
#define VALUE_BYTES ((5 + DFR_MESSAGE_EXTENTS) * 8)
#define N_EXTENTS DFR_MESSAGE_EXTENTS

static const unsigned char magic[DFR_BYTES_MAGIC] = "dfwave2\n";

static size_t aligned(size_t bytes)
{
    return (bytes + DFR_LINK_ALIGN - 1) / DFR_LINK_ALIGN * DFR_LINK_ALIGN;
}

static void put_head(struct dfr_bytes_writer *to, const struct dfr_message *message)
{
    const struct dfr_head *head = &message->head;

    dfr_bytes_put(to, magic, sizeof magic);
    dfr_bytes_put_number(to, message->size);
    dfr_bytes_put_number(to, head->kind);
    dfr_bytes_put_number(to, head->flags);
    dfr_bytes_put_number(to, head->epoch);
    dfr_bytes_put_number(to, head->hash);
    dfr_bytes_put_number(to, (uint64_t)head->wave);
    dfr_bytes_put_number(to, head->stage);
    dfr_bytes_put_number(to, message->n_values);
}

static void put_value(struct dfr_bytes_writer *to, const struct dfr_value *value, size_t offset)
{
    dfr_bytes_put_number(to, value->port);
    dfr_bytes_put_number(to, value->empty);
    dfr_bytes_put_number(to, value->n_extents);
    for (int i = 0; i < N_EXTENTS; i++)
        dfr_bytes_put_number(to, (uint64_t)value->extents[i]);
    dfr_bytes_put_number(to, value->bytes);
    dfr_bytes_put_number(to, offset);
}

static struct dfr_message *allocate(uint32_t n_values)
{
    struct dfr_message *message = calloc(1, sizeof *message + n_values * sizeof *message->values);

    if (message) {
        message->n_values = n_values;
        atomic_init(&message->n_holders, 1);
    }
    return message;
}

struct dfr_message *dfr_message_make(const struct dfr_head *head, const struct dfr_value *values, uint32_t n_values)
{
    struct dfr_message *message = allocate(n_values);
    struct dfr_bytes_writer to = { 0 };
    size_t offset = aligned(HEAD_BYTES + (size_t)n_values * VALUE_BYTES);

    if (!message)
        return NULL;
    message->head = *head;
    message->size = offset;
    for (uint32_t i = 0; i < n_values; i++)
        message->size += aligned(values[i].bytes);
    message->bytes = to.to = aligned_alloc(DFR_LINK_ALIGN, message->size);
    if (!to.to) {
        free(message);
        return NULL;
    }
    put_head(&to, message);
    for (uint32_t i = 0; i < n_values; i++) {
        size_t bytes = values[i].bytes;
        message->values[i] = values[i];
        message->values[i].data = bytes ? message->bytes + offset : NULL;
        put_value(&to, &values[i], bytes ? offset : 0);
        if (bytes) {
            memcpy(message->bytes + offset, values[i].data, bytes);
            memset(message->bytes + offset + bytes, 0, aligned(bytes) - bytes);
        }
        offset += aligned(bytes);
    }
    memset(message->bytes + to.n, 0, aligned(to.n) - to.n);
    return message;
}

struct dfr_message *dfr_message_make_text(const struct dfr_head *head, const char *text)
{
    return dfr_message_make(head, &(struct dfr_value){ .data = text, .bytes = strlen(text) }, 1);
}

struct dfr_message *dfr_message_make_texts(const struct dfr_head *head, const char *const *texts, uint32_t n)
{
    struct dfr_value values[4] = { { 0 } };
    if (n > sizeof values / sizeof *values)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        values[i] = (struct dfr_value){ .port = i, .data = texts[i], .bytes = strlen(texts[i]) };
    return dfr_message_make(head, values, n);
}

void dfr_message_number(struct dfr_message *message, uint32_t stage)
{
    struct dfr_bytes_writer to = { .to = message->bytes };

    message->head.stage = stage;
    put_head(&to, message);
}

/* ---- reading ---- */

static uint64_t flags_of(uint64_t kind)
{
    switch (kind) {
    case DFR_VERDICT:
    case DFR_STORED:
    case DFR_NONE:
        return DFR_DROPPED;
    case DFR_RESULT:
        return DFR_NO_WAVE;
    case DFR_BEAT:
        return DFR_STOPS;
    case DFR_WELCOME:
        return DFR_WANTS;
    case DFR_END:
        return DFR_WHOLE | DFR_WANTS;
    case DFR_CLOSE:
        return DFR_WHOLE;
    default:
        return 0;
    }
}

static bool has_wave(uint64_t kind)
{
    return kind == DFR_HELLO || kind == DFR_GIVE || kind == DFR_RESULT || kind == DFR_VERDICT || kind == DFR_STORED || kind == DFR_BEAT ||
           kind == DFR_ASK || kind == DFR_TOOK;
}

/* NULL, or which field of the head is wrong. */
static const char *read_head(struct dfr_bytes_reader *from, struct dfr_head *head)
{
    uint64_t kind = dfr_bytes_get_number(from), flags = dfr_bytes_get_number(from);

    *head = (struct dfr_head){ .epoch = dfr_bytes_get_number(from) };
    head->hash = dfr_bytes_get_number(from);
    head->wave = (int64_t)dfr_bytes_get_number(from);
    uint64_t stage = dfr_bytes_get_number(from);
    if (kind == 0 || kind >= DFR_N_KINDS)
        return "kind";
    if (flags & ~flags_of(kind))
        return "flags";
    if (head->wave < 0 || (head->wave > 0 && !has_wave(kind)))
        return "wave";
    if (stage > UINT32_MAX)
        return "stage";
    head->kind = (enum dfr_message_kind)kind;
    head->flags = (uint32_t)flags;
    head->stage = (uint32_t)stage;
    return NULL;
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
    while (n > 0 && bytes[n - 1] == 0)
        n--;
    return n == 0;
}

/* A product of extents times an element's bytes is for the graph's side to check: it knows the port. */
static const char *read_value(struct dfr_bytes_reader *from, const struct dfr_message *message, struct dfr_value *value,
                              size_t *end)
{
    uint64_t port = dfr_bytes_get_number(from), empty = dfr_bytes_get_number(from);
    uint64_t n_extents = dfr_bytes_get_number(from);

    if (port > UINT32_MAX || (value != message->values && port <= value[-1].port))
        return "port";
    if (empty > 1)
        return "mark of an empty token";
    if (n_extents > N_EXTENTS)
        return "count of extents";
    for (unsigned i = 0; i < N_EXTENTS; i++) {
        value->extents[i] = (int64_t)dfr_bytes_get_number(from);
        if (value->extents[i] < 0 || (i >= n_extents && value->extents[i] > 0))
            return "extent";
    }
    uint64_t bytes = dfr_bytes_get_number(from), offset = dfr_bytes_get_number(from);
    if (bytes > message->size - *end || (empty && bytes) || aligned(bytes) > message->size - *end)
        return "count of bytes";
    if (offset != (bytes ? *end : 0))
        return "offset";
    if (!is_zero(message->bytes + *end + bytes, aligned(bytes) - bytes))
        return "filling";
    value->port = (uint32_t)port;
    value->empty = empty;
    value->n_extents = (uint8_t)n_extents;
    value->bytes = bytes;
    value->data = bytes ? message->bytes + offset : NULL;
    *end += aligned(bytes);
    return NULL;
}

static const char *read_values(struct dfr_bytes_reader *from, struct dfr_message *message)
{
    size_t heads = HEAD_BYTES + (size_t)message->n_values * VALUE_BYTES, end = aligned(heads);
    const char *wrong = is_zero(message->bytes + heads, end - heads) ? NULL : "filling";

    for (uint32_t i = 0; i < message->n_values && !wrong; i++)
        wrong = read_value(from, message, &message->values[i], &end);
    return wrong ? wrong : end != message->size ? "size" : NULL;
}

/* DF_OK, or the code; *wrong is the field. */
static int read_message(unsigned char *bytes, size_t size, struct dfr_message **message, const char **wrong)
{
    struct dfr_bytes_reader from = dfr_bytes_read(bytes, size, magic);
    struct dfr_head head;

    *wrong = "beginning";
    if (!from.ok || size < HEAD_BYTES)
        return DF_E_FORMAT;
    *wrong = "size";
    if (dfr_bytes_get_number(&from) != size)
        return DF_E_FORMAT;
    if ((*wrong = read_head(&from, &head)) != NULL)
        return DF_E_FORMAT;
    uint64_t n_values = dfr_bytes_get_number(&from);
    *wrong = "count of values";
    if (n_values > (size - HEAD_BYTES) / VALUE_BYTES || aligned(HEAD_BYTES + n_values * VALUE_BYTES) > size)
        return DF_E_FORMAT;
    struct dfr_message *made = allocate((uint32_t)n_values);
    if (!made)
        return DF_E_MEMORY;
    made->head = head;
    made->size = size;
    made->bytes = bytes;
    if ((*wrong = read_values(&from, made)) != NULL) {
        free(made);
        return DF_E_FORMAT;
    }
    *message = made;
    return DF_OK;
}

int dfr_message_read(unsigned char *bytes, size_t size, struct dfr_message **message, struct df_error *error)
{
    const char *wrong;
    int code = read_message(bytes, size, message, &wrong);

    if (code == DF_OK)
        return DF_OK;
    free(bytes);
    *message = NULL;
    if (code == DF_E_MEMORY)
        return dfr_error_memory(error);
    return dfr_error(error, code, "a message of %zu bytes from another rank is wrong: its %s", size, wrong);
}

void dfr_message_text_of(const struct dfr_message *message, char *text, size_t size)
{
    size_t n = message->n_values ? message->values[0].bytes : 0;

    if (n > size - 1)
        n = size - 1;
    if (n)
        memcpy(text, message->values[0].data, n);
    text[n] = 0;
}

struct dfr_message *dfr_message_hold(struct dfr_message *message)
{
    atomic_fetch_add_explicit(&message->n_holders, 1, memory_order_relaxed);
    return message;
}

void dfr_message_drop(struct dfr_message *message)
{
    if (message && atomic_fetch_sub_explicit(&message->n_holders, 1, memory_order_acq_rel) == 1) {
        free(message->bytes);
        free(message);
    }
}
