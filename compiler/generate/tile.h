/* tile.h - the shape of the tiles that work-groups of a GPU compute of fused kernels: --gpu-tile. */
#ifndef DFG_TILE_H
#define DFG_TILE_H

struct dfg_tile { unsigned rows, columns; }; /* outputs of a tile; rows 0: the generator chooses for each group (tiles.c) */

#endif
