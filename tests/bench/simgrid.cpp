// simgrid.cpp - a manager and its workers as SimGrid simulates them (S4U, model CM02), beside what `dfc scale` says of the same run.
//
// simgrid KEY=VALUE... prints the time until the last result is there, in seconds. The model is that of compiler/cluster/virtual.h, written
// down a second time with SimGrid's actors: its network, its clock and its sharing of links take the place of ours. Windows are fixed, and no wave
// is given `2 * window * workers` or more beyond the oldest without a result.
//
//     waves, window                      in all; that a worker holds
//     types=N:EVERY_S:LATENCY_S:RATE,... workers of each kind, and their link
//     give, result, read, write          bytes of a wave
//     manager, total, files              bytes per second; 0: no bound
//     latency, message                   seconds: of a link, and of rank 0's thread for one message
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

struct Type { unsigned n; double every, latency, rate; };
struct Wave { unsigned worker; long number; double done; };
constexpr long END = -1;

static std::map<std::string, std::string> arguments;
static double number(const std::string &key) { return std::stod(arguments.at(key)); }

static std::vector<Type> types()
{
    std::vector<Type> all;
    const char *text = arguments.at("types").c_str();
    Type t;
    for (int n = 0; std::sscanf(text, "%u:%lf:%lf:%lf%n", &t.n, &t.every, &t.latency, &t.rate, &n) == 4; text += n + (text[n] == ','))
        all.push_back(t);
    return all;
}

// ---- a worker: one actor receives, one begins waves, one sends, each one thing after the other ----

struct Worker {
    unsigned index;
    Type type;
    sg::Host *host, *files;
    sg::Mailbox *gives, *ready, *ended, *results;
};

static void receive(const Worker &w)
{
    const auto bytes = static_cast<uint64_t>(number("read"));
    for (long left = END + 1; left != END;) {
        auto wave = w.gives->get_unique<Wave>();
        left = wave->number;
        if (left != END && bytes)
            sg::Comm::sendto(w.files, w.host, bytes);
        w.ready->put_init(wave.release(), 0)->detach();
    }
}

static void compute(const Worker &w)
{
    double free_s = 0;
    for (long left = END + 1; left != END;) {
        auto wave = w.ready->get_unique<Wave>();
        left = wave->number;
        if (left != END) {
            sg::this_actor::sleep_until(free_s);
            free_s = sg::Engine::get_clock() + w.type.every;
            wave->done = sg::Engine::get_clock() + w.type.latency;
        }
        w.ended->put_init(wave.release(), 0)->detach();
    }
}

static void send(const Worker &w)
{
    const auto bytes = static_cast<uint64_t>(number("write")), result = static_cast<uint64_t>(number("result"));
    for (;;) {
        auto wave = w.ended->get_unique<Wave>();
        if (wave->number == END)
            return;
        sg::this_actor::sleep_until(wave->done);
        if (bytes)
            sg::Comm::sendto(w.host, w.files, bytes);
        w.results->put(wave.release(), result);
    }
}

// ---- rank 0 ----

struct Manager {
    std::vector<Worker> workers;
    std::deque<unsigned> asking;        // a worker once for each wave that it may get
    std::vector<bool> there;            // results
    long given = 0, oldest = 0, waves, places;
    double message_s;

    void give(unsigned worker, long wave)
    {
        workers[worker].gives->put_init(new Wave{ worker, wave, 0 }, wave == END ? 0 : static_cast<uint64_t>(number("give")))->detach();
    }

    void hand_out()
    {
        for (; !asking.empty() && given < waves && given < oldest + places; asking.pop_front()) {
            sg::this_actor::sleep_for(message_s);
            give(asking.front(), given++);
        }
    }

    void operator()()
    {
        waves = static_cast<long>(number("waves"));
        message_s = number("message");
        const auto window = static_cast<unsigned>(number("window"));
        places = 2L * window * static_cast<long>(workers.size());
        there.resize(static_cast<size_t>(waves));
        workers[0].results->set_receiver(sg::Actor::self());
        for (unsigned i = 0; i < window; i++)
            for (unsigned w = 0; w < workers.size(); w++)
                asking.push_back(w);
        hand_out();
        for (long n = 0; n < waves; n++) {
            auto result = workers[0].results->get_unique<Wave>();
            sg::this_actor::sleep_for(2 * message_s); // it is handled, and the worker is told that it was accepted
            there[static_cast<size_t>(result->number)] = true;
            while (oldest < waves && there[static_cast<size_t>(oldest)])
                oldest++;
            asking.push_back(result->worker);
            hand_out();
        }
        std::printf("%.9g\n", sg::Engine::get_clock());
        for (unsigned w = 0; w < workers.size(); w++)
            give(w, END);
    }
};

// ---- the platform ----

using Route = std::vector<sg::LinkInRoute>;

// A link that all who go through it share; nothing is added to the routes if it has no bound.
static void share(sg::NetZone *zone, const char *name, double rate, std::vector<Route *> routes)
{
    if (rate <= 0)
        return;
    const sg::Link *link = zone->create_link(name, rate)->set_latency(0.0)->seal();
    for (Route *route : routes)
        route->emplace_back(link);
}

static void build(sg::Engine &engine)
{
    sg::NetZone *zone = sg::create_full_zone("site");
    sg::Host *rank0 = zone->create_host("rank0", 1e9)->seal(), *files = zone->create_host("files", 1e9)->seal();
    Manager manager;
    Route gives, results, file;
    share(zone, "out", number("manager"), { &gives });
    share(zone, "in", number("manager"), { &results });
    share(zone, "total", number("total"), { &gives, &results, &file });
    share(zone, "disks", number("files"), { &file });
    unsigned index = 0;
    for (const Type &type : types())
        for (unsigned i = 0; i < type.n; i++, index++) {
            const std::string name = "w" + std::to_string(index);
            sg::Host *host = zone->create_host(name, 1e9)->seal();
            const sg::LinkInRoute down(zone->create_link(name + "in", type.rate)->set_latency(number("latency"))->seal());
            const sg::LinkInRoute up(zone->create_link(name + "out", type.rate)->set_latency(number("latency"))->seal());
            const auto connect = [zone](sg::Host *a, sg::Host *b, Route route, const sg::LinkInRoute &own) {
                route.push_back(own);
                zone->add_route(a->get_netpoint(), b->get_netpoint(), nullptr, nullptr, route, false);
            };
            connect(rank0, host, gives, down);
            connect(host, rank0, results, up);
            connect(files, host, file, down);
            connect(host, files, file, up);
            manager.workers.push_back({ index, type, host, files, engine.mailbox_by_name_or_create(name + "gives"),
                                        engine.mailbox_by_name_or_create(name + "ready"), engine.mailbox_by_name_or_create(name + "ended"),
                                        engine.mailbox_by_name_or_create("results") });
        }
    zone->seal();
    for (const Worker &w : manager.workers) {
        sg::Actor::create("receive", w.host, receive, w);
        sg::Actor::create("compute", w.host, compute, w);
        sg::Actor::create("send", w.host, send, w);
    }
    sg::Actor::create("manager", rank0, manager);
}

int main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv);
    for (const char *setting : { "network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e30", "network/latency-factor:1",
                                 "network/bandwidth-factor:1", "network/weight-S:0", "network/loopback-lat:0", "network/loopback-bw:1e18" })
        engine.set_config(setting);
    for (int i = 1; i < argc; i++)
        if (const std::string word = argv[i]; word.find('=') != std::string::npos)
            arguments[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    build(engine);
    engine.run();
}
