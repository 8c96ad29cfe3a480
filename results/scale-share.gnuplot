# Draws scale-share.svg from scale-share.csv, in this folder: gnuplot scale-share.gnuplot
set terminal svg size 900,420 font "sans-serif,13" background "white"
set output "scale-share.svg"
set datafile separator ","
set logscale xy
set key top right
set xlabel "ranks"
set format x "%g"
set format y "%g"
set grid ytics lc rgb "#dddddd"
file = "scale-share.csv"
of(graph, owns, width, column) = \
    sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $3 == %d { print $4 \",\" $%d \",\" $8 * 1.3 + 64 }' %s", \
            graph, owns, width, column, file)
set multiplot layout 1,2
set ylabel "MiB of one rank"
set title "peak memory (solid), 1.3 of the share + 64 MiB (dashed)"
plot of("products-size", "rows", 128, 9) using 1:2 with linespoints lc 1 pt 7 ps 0.6 notitle, \
     of("products-size", "rows", 128, 9) using 1:3 with lines lc 1 dt 2 notitle, \
     of("products-size", "rows", 16, 9) using 1:2 with linespoints lc 2 pt 7 ps 0.6 notitle, \
     of("products-size", "rows", 16, 9) using 1:3 with lines lc 2 dt 2 notitle, \
     of("giga", "rows", 16, 9) using 1:2 with linespoints lc 3 pt 7 ps 0.6 notitle, \
     of("giga", "rows", 16, 9) using 1:3 with lines lc 3 dt 2 notitle, \
     of("giga", "block of tiles", 16, 9) using 1:2 with linespoints lc 4 pt 7 ps 0.6 notitle, \
     of("giga", "block of tiles", 16, 9) using 1:3 with lines lc 4 dt 2 notitle, \
     of("products-size", "permuted together", 128, 9) using 1:2 with linespoints lc 5 pt 7 ps 0.6 notitle, \
     of("products-size", "permuted together", 128, 9) using 1:3 with lines lc 5 dt 2 notitle
set ylabel "seconds of one rank"
set title "set-up and one product"
plot of("products-size", "rows", 128, 11) using 1:2 with linespoints lc 1 pt 7 ps 0.6 title "126 M nonzeros, width 128", \
     of("products-size", "rows", 16, 11) using 1:2 with linespoints lc 2 pt 7 ps 0.6 title "the same, width 16", \
     of("giga", "rows", 16, 11) using 1:2 with linespoints lc 3 pt 7 ps 0.6 title "1.1 G nonzeros, width 16", \
     of("giga", "block of tiles", 16, 11) using 1:2 with linespoints lc 4 pt 7 ps 0.6 title "the same, a block in tiles", \
     of("products-size", "permuted together", 128, 11) using 1:2 with linespoints lc 5 pt 7 ps 0.6 \
         title "126 M, a permuted cube of three shards"
