/* table.h: a table for people: columns as wide as what is in them, and never wider than the
 * terminal together. */
#ifndef RLOCK_CMD_TABLE_H
#define RLOCK_CMD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 10, TABLE_TURNS = 3 };

struct table_column {
    const char *title;
    size_t least; /* it may be cut to that */
    int turn;     /* when: 1 is cut first, TABLE_TURNS last; 0: it is never cut */
    bool right;   /* numbers */
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    struct table_cell {
        char *text;
        const char *style;
    } * cells; /* row by row */
    size_t count, room;
};

/* Adds a cell, from left to right, row by row; NULL or "": empty. What a terminal would take for
 * more than text becomes '?'. style: how it is set off on a terminal, an SGR parameter such as "1";
 * a constant; NULL: not at all. False: no memory. */
bool table_add(struct table *table, const char *text, const char *style);

/* Writes titles and rows. What does not fit into so many columns is cut with "...": one column
 * after the other, by their turns. Where that is not enough the last columns are left out, and one
 * that was cut first even before any is cut last. colours: false for plain text. */
void table_write(const struct table *table, FILE *stream, size_t width, bool colours);
void table_free(struct table *table);

#endif
