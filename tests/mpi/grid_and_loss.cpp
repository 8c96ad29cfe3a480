// Process grids and the loss over sharded classes, on every grid of this many ranks.
#include <array>
#include <cmath>
#include <functional>

#include <catch2/catch.hpp>

#include <gnnbench/random.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/sharded_loss.hpp>

#include "plugin/loader.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

constexpr Axis axes[] = {Axis::x, Axis::y, Axis::z};

std::vector<GridShape> grids_of(int ranks) {
    std::vector<GridShape> out;
    for (int x = 1; x <= ranks; ++x)
        for (int y = 1; x * y <= ranks; ++y)
            if (ranks % (x * y) == 0) out.push_back({{x, y, ranks / (x * y)}});
    return out;
}

/// A rank's back end in float64 and its world.
struct Bench {
    ProcessGroup group = mpi_world();
    std::unique_ptr<Backend> backend = PluginCatalog().kernel("reference")->create({.dtype = DType::f64});
    VolumeCounter counter;
    Communicator world{backend->connect(group), *backend, counter};
};

double logit(std::int64_t row, std::int64_t column) {
    return 6 * unit_interval(random_word(3, Draw::features, static_cast<std::uint64_t>(row),
                                         static_cast<std::uint32_t>(column), 0)) -
           3;
}

/// Rows of block x, columns of block y of an n × c matrix of logits.
struct Piece {
    std::int64_t first_row, rows, first_class, classes;
};

Matrix upload(Backend& k, const Piece& p) {
    std::vector<double> z;
    for (std::int64_t r = 0; r < p.rows; ++r)
        for (std::int64_t c = 0; c < p.classes; ++c) z.push_back(logit(p.first_row + r, p.first_class + c));
    Matrix m = k.matrix(p.rows, p.classes);
    k.upload(std::span<const double>(z), m);
    return m;
}

struct Labelled {
    Array<std::int32_t> labels;
    Array<std::uint8_t> label_matrix;
    Array<Split> split;
    LossInput input(double scale) const {
        return {.labels = labels.data(), .split = split.data(), .scale = scale};
    }
    LossInput several(double scale) const {
        return {.split = split.data(), .scale = scale, .label_matrix = label_matrix.data(), .multi_label = true};
    }
};

Labelled label(Backend& k, const Piece& p, std::int64_t classes) {
    std::vector<std::int32_t> labels;
    std::vector<std::uint8_t> label_matrix;
    std::vector<Split> split;
    for (std::int64_t v = p.first_row; v < p.first_row + p.rows; ++v) {
        for (std::int64_t c = p.first_class; c < p.first_class + p.classes; ++c)
            label_matrix.push_back(v % 5 != 0 && (v + 2 * c) % 3 == 0);
        split.push_back(static_cast<Split>(v % 4));
        // Vertices without a label belong to no split.
        labels.push_back(v % 4 == 0 ? -1 : static_cast<std::int32_t>(v / 4 % classes));
    }
    return {k.upload(std::span<const std::int32_t>(labels)), k.upload(std::span<const std::uint8_t>(label_matrix)),
            k.upload(std::span<const Split>(split))};
}

}  // namespace

TEST_CASE("blocks are even, in order, and cover everything") {
    for (const std::int64_t n : {0, 1, 2, 7, 12})
        for (const int blocks : {1, 2, 3, 5, 12, 13}) {
            std::int64_t next = 0;
            for (int i = 0; i < blocks; ++i) {
                CHECK(block_begin(n, blocks, i) == next);
                CHECK((block_size(n, blocks, i) == n / blocks || block_size(n, blocks, i) == n / blocks + 1));
                CHECK(block_size(n, blocks, i) <= largest_block(n, blocks));
                next += block_size(n, blocks, i);
            }
            CHECK(next == n);
        }
}

TEST_CASE("lines and planes of a grid hold the ranks they say, in the order they say") {
    Bench b;
    CHECK_THROWS_AS(ProcessGrid(b.world, {{b.world.size() + 1, 1, 1}}), LogicError);
    for (const GridShape& shape : grids_of(b.world.size())) {
        ProcessGrid grid(b.world, shape);
        CHECK(shape.rank(grid.place()) == b.world.rank());
        for (const Axis a : axes) {
            INFO(shape.text() << ", axis " << static_cast<int>(a) << ", rank " << b.world.rank());
            CHECK(grid.along(a).size() == shape.extent(a));
            CHECK(grid.along(a).rank() == grid.at(a));
            CHECK(grid.plane(a).size() * shape.extent(a) == b.world.size());
            // Rank 0 of the line is the one whose number names it.
            double first = b.world.rank();
            Matrix m = b.backend->matrix(1, 1);
            b.backend->upload(std::span<const double>(&first, 1), m);
            grid.along(a).broadcast_now(m, 0);
            GridPlace start = grid.place();
            start[a] = 0;
            CHECK(b.backend->download(m)(0, 0) == shape.rank(start));
        }
    }
}

namespace {

/// Rows and classes of logits over a grid: whole on every rank, and this rank's piece of them.
struct Sharded {
    Sharded(Bench& bench, const GridShape& shape, std::int64_t n, std::int64_t classes)
        : b(bench),
          grid(b.world, shape),
          columns(shape.extent(Axis::y)),
          y(grid.at(Axis::y)),
          mine{block_begin(n, shape.extent(Axis::x), grid.at(Axis::x)),
               block_size(n, shape.extent(Axis::x), grid.at(Axis::x)), block_begin(classes, columns, y),
               block_size(classes, columns, y)},
          all{0, n, 0, classes},
          my_labels(label(*b.backend, mine, classes)),
          all_labels(label(*b.backend, all, classes)),
          whole(upload(*b.backend, all)),
          logits(upload(*b.backend, mine)),
          whole_gradient(b.backend->matrix(n, classes)),
          gradient(b.backend->matrix(mine.rows, mine.classes)) {}

    /// With nothing counted so far.
    ShardedLoss loss(bool multi_label) {
        ShardedLoss loss(*b.backend, grid.along(Axis::y), b.world, mine.rows, all.classes, multi_label);
        b.counter.take();
        return loss;
    }
    Volume stated(bool multi_label) const {
        return ShardedLoss::volume(mine.rows, multi_label, columns, y, b.world.size(), b.world.rank(), 8);
    }
    void check_gradient() const {
        const HostMatrix wanted = b.backend->download(whole_gradient), found = b.backend->download(gradient);
        for (std::int64_t r = 0; r < mine.rows; ++r)
            for (std::int64_t c = 0; c < mine.classes; ++c)
                CHECK(found(r, c) == Approx(wanted(mine.first_row + r, mine.first_class + c)).margin(1e-14));
    }

    Bench& b;
    ProcessGrid grid;
    int columns, y;
    Piece mine, all;
    Labelled my_labels, all_labels;
    Matrix whole, logits, whole_gradient, gradient;
};

void for_every_sharding(const std::function<void(Sharded&)>& check) {
    Bench b;
    for (const GridShape& shape : grids_of(b.world.size()))
        for (const std::int64_t n : {0, 1, 11})
            for (const std::int64_t classes : {1, 2, 5}) {
                if (shape.extent(Axis::z) > 1) continue;
                INFO(shape.text() << ", " << n << " rows, " << classes << " classes");
                Sharded s(b, shape, n, classes);
                check(s);
            }
}

/// `hits` of `of`, or NaN where that is none.
void check_share(double found, std::int64_t hits, std::int64_t of) {
    if (of == 0)
        CHECK(std::isnan(found));
    else
        CHECK(found == Approx(static_cast<double>(hits) / static_cast<double>(of)));
}

}  // namespace

TEST_CASE("the loss over sharded classes equals the loss over whole rows, and moves what it states") {
    for_every_sharding([](Sharded& s) {
        double wanted = 0;
        s.b.backend->softmax_cross_entropy(s.whole, s.all_labels.input(0.25), s.whole_gradient, &wanted);
        ShardedLoss loss = s.loss(false);
        CHECK(loss.first_class() == s.mine.first_class);
        loss.start(s.logits, s.my_labels.input(0.25), s.gradient);
        CHECK(loss.value() == Approx(wanted).margin(1e-12));
        CHECK(difference(s.stated(false), s.b.counter.take()) == "");
        s.check_gradient();

        std::array<std::int64_t, 6> k{};
        s.b.backend->count_correct(s.whole, s.all_labels.input(1), k.data());
        const Score score = loss.score(s.logits, s.my_labels.input(1));
        CHECK(score.metric == ScoreMetric::accuracy);
        for (std::size_t i = 0; i < 3; ++i) check_share(score.of[i], k[2 * i], k[2 * i + 1]);
    });
}

TEST_CASE("a label matrix: the sharded loss equals that over whole rows, and class groups exchange nothing") {
    for_every_sharding([](Sharded& s) {
        double wanted = 0;
        s.b.backend->binary_cross_entropy(s.whole, s.all_labels.several(0.25), s.whole_gradient, &wanted);
        ShardedLoss loss = s.loss(true);
        loss.start(s.logits, s.my_labels.several(0.25), s.gradient);
        CHECK(loss.value() == Approx(wanted).margin(1e-12));
        const Volume counted = s.b.counter.take();
        CHECK(difference(s.stated(true), counted) == "");
        CHECK_FALSE(counted.contains({CommOp::all_reduce, Content::payload}));
        s.check_gradient();

        std::array<std::int64_t, 9> k{};
        s.b.backend->count_positives(s.whole, s.all_labels.several(1), k.data());
        const Score score = loss.score(s.logits, s.my_labels.several(1));
        CHECK(score.metric == ScoreMetric::micro_f1);
        for (std::size_t i = 0; i < 3; ++i) {
            const std::int64_t hits = 2 * k[3 * i];
            check_share(score.of[i], hits, hits + k[3 * i + 1] + k[3 * i + 2]);
        }
    });
}
