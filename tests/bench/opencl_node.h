/* opencl_node.h - the kernels of the dispatch benchmark on OpenCL devices, the same for all systems: one work-item, which stores one more than the sum of the node's
 * inputs, times the number of the wave, from 1. A buffer is a pointer and the number of elements from there.
 */
#ifndef OPENCL_NODE_H
#define OPENCL_NODE_H

static const char *const opencl_node_names[] = { "node0", "node1", "node2" }; /* by number of inputs */
static const char opencl_node_text[] =
    "__kernel void node0(uint wave, __global uint *o, long at)\n"
    "{\n    o[at] = wave;\n}\n"
    "__kernel void node1(uint wave, __global const uint *a, long at_a, __global uint *o, long at)\n"
    "{\n    o[at] = wave + a[at_a];\n}\n"
    "__kernel void node2(uint wave, __global const uint *a, long at_a, __global const uint *b, long at_b, __global uint *o, long at)\n"
    "{\n    o[at] = wave + a[at_a] + b[at_b];\n}\n";

#endif
