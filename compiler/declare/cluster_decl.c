/* cluster_decl.c - reads the cluster of a --platform file for `dfc map` and `dfc scale`: converts the syntax tree of a
 * platform that has nodes into struct dfc_cluster, and checks it.
 */
#include <string.h>

#include "compiler/declare/cluster_decl.h"
#include "compiler/declare/declare.h"
#include "compiler/declare/platform_impl.h"

#define LEAST_SPEED 1e-6
#define MOST_SPEED 1e6

struct making {
    struct dfc_convert c;
    struct dfc_cluster *cluster;
    const struct dfl_device *network;   /* NULL: there is none yet */
};

static const char *const node_properties[] = { "count", "net", "speed" };
static const char *const network_properties[] = { "manager", "total", "files", "message" };

/* Finds the property's number in the list; n: it is none of these, which is reported. A second one is reported, too. */
static unsigned which(struct making *m, const struct dfl_device *block, const struct dfl_property *property,
                      const char *const *names, unsigned n)
{
    struct dfl_sink *sink = m->c.sink;
    unsigned k = 0;
    while (k < n && strcmp(names[k], property->name.text) != 0)
        k++;
    for (const struct dfl_property *other = block->properties; other != property; other = other->next)
        if (k < n && !other->device && strcmp(other->name.text, property->name.text) == 0) {
            dfl_error(sink, property->name.loc, "'%s' is given twice", names[k]);
            dfl_note(sink, other->name.loc, "the first is here");
            m->c.ok = false;
            return n;
        }
    if (k < n)
        return k;
    dfl_error(sink, property->name.loc, "unknown property '%s' of a %s", property->name.text, block->cls.text);
    const char *close = dfl_suggest(property->name.text, names, n);
    if (close)
        dfl_hint(sink, "did you mean '%s'?", close);
    else if (n == 3)
        dfl_hint(sink, "a node has count, net, speed, and its devices");
    else
        dfl_hint(sink, "a network has manager, total, files and message");
    m->c.ok = false;
    return n;
}

/* What takes one value has no second one. */
static void take_one(struct making *m, const struct dfl_property *property)
{
    dfc_refuse_value(&m->c, property->values->next, "this property takes one value");
}

/* ---- nodes ---- */

/* The devices that stand in a node are those of a platform with its name. */
static void convert_machine(struct making *m, const struct dfl_device *node, struct df_platform *platform)
{
    struct dfl_device devices[DF_MAX_UNITS + 2];
    unsigned n = 0;
    for (const struct dfl_property *p = node->properties; p; p = p->next)
        if (p->device && n < sizeof devices / sizeof *devices) /* one too many is told below */
            devices[n++] = *p->device;
    for (unsigned i = 0; i < n; i++)
        devices[i].next = i + 1 < n ? &devices[i + 1] : NULL;
    const struct dfl_platform ast = { .name = node->name, .devices = n ? devices : NULL, .loc = node->name.loc };
    m->c.ok &= dfc_platform_convert(m->c.u, &ast, platform);
}

static void take_speed(struct making *m, const struct dfl_property *property, double *speed)
{
    if (!dfc_take_number(&m->c, property->values, "'speed'", DFC_NO_UNIT, false, speed))
        return;
    if (*speed >= LEAST_SPEED && *speed <= MOST_SPEED) {
        take_one(m, property);
        return;
    }
    dfl_error(m->c.sink, property->values->loc, "'speed' must be a number from %g to %g", LEAST_SPEED, MOST_SPEED);
    m->c.ok = false;
}

static void convert_node(struct making *m, const struct dfl_device *node)
{
    struct dfc_cluster *cluster = m->cluster;
    if (cluster->n_types == DFC_MOST_NODE_TYPES) {
        dfl_error(m->c.sink, node->name.loc, "a cluster has at most %d kinds of nodes", DFC_MOST_NODE_TYPES);
        m->c.ok = false;
        return;
    }
    struct dfc_node_type *type = &cluster->types[cluster->n_types++];
    *type = (struct dfc_node_type){ .count = 1, .speed = 1 };
    convert_machine(m, node, &type->platform);
    strcpy(type->name, type->platform.name);
    for (const struct dfl_property *p = node->properties; p; p = p->next) {
        if (p->device)
            continue;
        switch (which(m, node, p, node_properties, 3)) {
        case 0:
            if (dfc_take_count(&m->c, p->values, "'count'", 1, DFC_MOST_NODES, &type->count))
                take_one(m, p);
            break;
        case 1: dfc_take_link(&m->c, p, &type->link); break;
        case 2:
            take_speed(m, p, &type->speed);
            break;
        default: break;
        }
    }
    if (type->link.bytes_per_s > 0 || !m->c.ok)
        return;
    dfl_error(m->c.sink, node->name.loc, "node '%s' has no 'net'", node->name.text);
    dfl_hint(m->c.sink, "its link to the network: 'net = 5 GB/s, 2 us;'");
    m->c.ok = false;
}

/* ---- the network ---- */

static void convert_network(struct making *m, const struct dfl_device *network)
{
    struct dfc_cluster *cluster = m->cluster;
    if (m->network) {
        dfl_error(m->c.sink, network->name.loc, "a cluster has one network, and this is the second");
        dfl_note(m->c.sink, m->network->name.loc, "the first is here");
        m->c.ok = false;
        return;
    }
    m->network = network;
    for (const struct dfl_property *p = network->properties; p; p = p->next) {
        if (p->device) {
            dfl_error(m->c.sink, p->name.loc, "device '%s' stands in a network: it belongs into a node", p->name.text);
            m->c.ok = false;
            continue;
        }
        unsigned k = which(m, network, p, network_properties, 4);
        if (k >= 1 && k < 4)
            take_one(m, p);
        switch (k) {
        case 0: dfc_take_link(&m->c, p, &cluster->link); break;
        case 1: dfc_take_rate(&m->c, p->values, "'total'", &cluster->total_bytes_per_s); break;
        case 2: dfc_take_rate(&m->c, p->values, "'files'", &cluster->files_bytes_per_s); break;
        case 3: dfc_take_delay(&m->c, p->values, "'message'", &cluster->message_s); break;
        default: break;
        }
    }
}

/* ---- all of it ---- */

static void convert_block(struct making *m, const struct dfl_device *block, const struct dfl_device *first)
{
    for (const struct dfl_device *other = first; other != block; other = other->next)
        if (strcmp(other->name.text, block->name.text) == 0 && strcmp(other->cls.text, block->cls.text) == 0) {
            dfl_error(m->c.sink, block->name.loc, "%s '%s' is declared twice", block->cls.text, block->name.text);
            dfl_note(m->c.sink, other->name.loc, "the first is here");
            m->c.ok = false;
            return;
        }
    if (strcmp(block->cls.text, "node") == 0) {
        convert_node(m, block);
    } else if (strcmp(block->cls.text, "network") == 0) {
        convert_network(m, block);
    } else {
        dfl_error(m->c.sink, block->name.loc, "device '%s' stands beside the nodes of a cluster", block->name.text);
        dfl_hint(m->c.sink, "put it into the node that has it: 'node NAME { … %s %s { … } }'", block->cls.text, block->name.text);
        m->c.ok = false;
    }
}

static bool convert_cluster(struct dfc_unit *u, const struct dfl_platform *ast, void *result)
{
    struct dfc_cluster *cluster = result;
    struct making m = { .c = { .u = u, .sink = u->sink, .ok = true }, .cluster = cluster };
    *cluster = (struct dfc_cluster){ .loc = ast->name.loc, .message_s = DFC_MESSAGE_S };
    if (!dfc_platform_is_cluster(ast)) {
        dfl_error(u->sink, ast->name.loc, "platform '%s' is one machine, and here a cluster is needed", ast->name.text);
        dfl_hint(u->sink, "say how many there are: 'platform %s { node NAME { count = 8; net = 5 GB/s, 2 us; cpu host { … } } }'",
                 ast->name.text);
        return false;
    }
    for (const struct dfl_device *block = ast->devices; block; block = block->next)
        convert_block(&m, block, ast->devices);
    if (m.c.ok && !cluster->n_types) {
        dfl_error(u->sink, ast->name.loc, "cluster '%s' has a network and no node", ast->name.text);
        m.c.ok = false;
    }
    snprintf(cluster->name, sizeof cluster->name, "%s", ast->name.text);
    if (!(cluster->link.bytes_per_s > 0))
        cluster->link = cluster->types[0].link;
    return m.c.ok;
}

bool dfc_cluster_read(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                      struct dfc_cluster *cluster)
{
    return dfc_platform_read_as(sink, path, defines, n_defines, convert_cluster, cluster);
}
