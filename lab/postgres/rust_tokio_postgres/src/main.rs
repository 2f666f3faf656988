//! Point reads with tokio-postgres: CALLERS tasks over CONNECTIONS clients, which pipeline what their tasks send.
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

struct Ids {
    state: u32,
    rows: u32,
}

impl Ids {
    fn next(&mut self) -> i64 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 + ((u64::from(self.state) * u64::from(self.rows)) >> 32) as i64
    }
}

fn cpu_s() -> f64 {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

async fn run(args: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    // FOLDER PORT CALLERS CONNECTIONS SECONDS ROWS
    let callers: u32 = args[3].parse()?;
    let connections: u32 = args[4].parse()?;
    let seconds: f64 = args[5].parse()?;
    let rows: u32 = args[6].parse()?;
    let mut clients = Vec::new();
    for _ in 0..connections {
        let text = format!("host={} port={} dbname=bench user=katana", args[1], args[2]);
        let (client, connection) = tokio_postgres::connect(&text, NoTls).await?;
        tokio::task::spawn_local(async move {
            let _ = connection.await;
        });
        let statement = client.prepare("SELECT id, name, email, age FROM users WHERE id = $1").await?;
        clients.push(Rc::new((client, statement)));
    }
    let done = Rc::new(Cell::new(0u64));
    let stop = Rc::new(Cell::new(false));
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let client = clients[(caller % connections) as usize].clone();
        let (done, stop) = (done.clone(), stop.clone());
        tasks.push(tokio::task::spawn_local(async move {
            let mut ids = Ids { state: caller.wrapping_mul(2_654_435_761), rows };
            while !stop.get() {
                let asked = ids.next();
                let row = client.0.query_one(&client.1, &[&asked]).await.expect("a row");
                let id: i64 = row.get(0);
                let name: String = row.get(1);
                let email: String = row.get(2);
                let age: Option<i32> = row.get(3);
                assert!(id == asked, "a row is not the one that was asked for");
                std::hint::black_box((name, email, age));
                done.set(done.get() + 1);
            }
        }));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (before, before_cpu, begin) = (done.get(), cpu_s(), Instant::now());
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    println!(
        "{{\"queries\":{},\"elapsed_s\":{:.6},\"cpu_s\":{:.6}}}",
        done.get() - before,
        begin.elapsed().as_secs_f64(),
        cpu_s() - before_cpu
    );
    stop.set(true);
    for task in tasks {
        task.await?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, run(std::env::args().collect()))
}
