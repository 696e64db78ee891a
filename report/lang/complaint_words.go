package lang

import "slices"

// catalogue returns the formats of errors, English and Chinese.
func catalogue() [][2]string {
	return slices.Concat(parserWords(), systemWords(), commandWords(), loadWords(), runWords(), resumeWords(), workloadWords(), reportWords(), clientWords(), networkWords(), simWords(), twinWords(), clusterWords(), fidelityWords(), gradesWords(), perplexityWords())
}

// parserWords are what the command-line parser says, in the words that the command puts it into.
func parserWords() [][2]string {
	return [][2]string{
		{"unknown flag %s", "没有参数 %s"},
		{"unknown flag %s, did you mean %s?", "没有参数 %s；是否想用 %s？"},
		{"unknown flag %s, did you mean one of %s?", "没有参数 %s；是否想用 %s 之一？"},
		{"unexpected argument %s", "多余的参数 %s"},
		{"unexpected argument %s, did you mean %s?", "多余的参数 %s；是否想用 %s？"},
		{"missing flags: %s", "缺少参数：%s"},
		{"expected %s", "缺少 %s"},
		{"expected one of %s", "应为下列之一：%s"},
		{"%s must be one of %s but got %q", "%s 应为 %s 之一，而不是 %s"},
		{"%s needs a value", "%s 需要一个值"},
		{"%q is not a whole number", "%s 不是整数"},
		{"%q is not a number", "%s 不是数"},
		{"%q is not a time; write one with its unit, such as 30s, 5m or 1h", "%s 不是时间；请连同单位书写，如 30s、5m 或 1h"},
		{"%s contradict each other: give one of them", "%s 相互矛盾：只能给出其中一个"},
		{"%s and %s contradict each other: give one of them", "%s 与 %s 相互矛盾：只能给出其中一个"},
		{"there is no command %q; did you mean %s?", "没有命令 %s；是否想用 %s？"},
		{"there is no command %q; llmsweep --help lists the commands", "没有命令 %s；llmsweep --help 列出所有命令"},
		{"%s has no value: %s looks like another flag; a value that begins with a dash is written %s=%s", "%s 没有值：%s 像是另一个参数；以短横线开头的值应写作 %s=%s"},
		{"--%s %v: it must be a number above 0", "--%s %v：必须是大于 0 的数"},
		{"%s; did you mean %q?", "%s；是否想用 %s？"},
	}
}

// systemWords are what the operating system and the standard library say.
func systemWords() [][2]string {
	return [][2]string{
		{"cannot open %s: %w", "无法打开 %s：%s"}, {"no such file or directory", "没有这个文件或目录"}, {"permission denied", "没有权限"},
		{"is a directory", "是一个目录"}, {"not a directory", "不是目录"}, {"file exists", "文件已存在"}, {"no space left on device", "磁盘空间不足"},
		{"read-only file system", "文件系统只读"}, {"address already in use", "地址已被占用"},
		{"connection refused", "连接被拒绝"}, {"connection reset by peer", "连接被对方重置"}, {"broken pipe", "连接已断开"},
		{"i/o timeout", "超时"}, {"context deadline exceeded", "超过时限"}, {"no such host", "没有这个主机"}, {"EOF", "数据意外结束"},
		{"unexpected EOF", "数据意外结束"}, {"unexpected end of JSON input", "JSON 意外结束"}, {"no route to host", "无法到达主机"},
		{"network is unreachable", "网络不可达"}, {"listen %s: %w", "监听 %s：%s"}, {"bind: %s", "绑定：%s"},
		{"invalid character %s looking for beginning of value", "在值的开头遇到无效字符 %s"},
		{"invalid character %s after top-level value", "在 JSON 末尾之后遇到无效字符 %s"},
		{"invalid port %q after host", "主机名后的端口 %s 无效"}, {"record on line %d: %s", "第 %d 行的记录：%s"},
		{"wrong number of fields", "字段数不对"},
	}
}

// commandWords are the errors of the commands.
func commandWords() [][2]string {
	return [][2]string{
		{"no drawing %q: there are %s", "没有图 %s；可用的有 %s"},
		{"audit needs a document or a run directory; llmsweep audit --help has examples", "audit 需要一个文档或运行目录；示例见 llmsweep audit --help"},
		{"%s is not a run directory and holds none; audit takes documents and run directories", "%s 不是运行目录，其中也没有运行目录；audit 接受文档和运行目录"},
		{"--only %s: no result has these labels; llmsweep compare lists the results", "--only %s：没有结果带有这些标签；llmsweep compare 会列出结果"},
		{"%s is a server; use llmsweep compare --live to compare two servers", "%s 是服务地址；比较两个服务请用 llmsweep compare --live"},
		{"%s is not a run directory and holds none; name run directories or documents with published results", "%s 不是运行目录，其中也没有运行目录；请给出运行目录或含公开的结果的文档"},
		{"--config: %w", "--config：%s"},
		{"%s:%d: not a YAML file of 'flag: value' lines, such as 'stage-time: 30s'", "%s:%d：不是由“参数: 值”行组成的 YAML 文件，例如 stage-time: 30s"},
		{"%s:%d: %q was set before, in line %d", "%s:%d：%s 在第 %d 行已经设置过"},
		{"%s:%d: not YAML: %s", "%s:%d：不是 YAML：%s"}, {"%s: not YAML: %s", "%s：不是 YAML：%s"},
		{"%s:%d: there is no flag %q", "%s:%d：没有参数 %s"},
		{"%s; llmsweep COMMAND --help lists the flags", "%s；llmsweep COMMAND --help 列出所有参数"},

		{"it takes one value, not a list", "只接受一个值，不接受列表"}, {"it takes one value, not a mapping", "只接受一个值，不接受映射"},
		{"a list of single values is expected", "应为单个值组成的列表"},
		{"mapping key %q already defined at %s", "键 %s 已在 %s 定义"}, {"sequence end token ']' not found", "缺少列表结尾的“]”"},
		{"the URL of the server is missing: give one such as http://localhost:8000, or sim: for the simulated server", "缺少服务地址：请给出地址，如 http://localhost:8000，或用 sim: 表示模拟服务"},
		{"replica %d serves model %s by API %s, replica 1 %s by %s: replicas hold the same model; name it with --model and --api",
			"副本 %d 提供模型 %s（API 为 %s），副本 1 提供 %s（API 为 %s）：各副本必须是同一模型；请用 --model 和 --api 指定"},
		{"interrupted before anything was measured", "在测得任何结果之前中断"},
		{"a picture in PNG is not for a terminal: name a file with -o", "PNG 图片不能显示在终端上：请用 -o 指定文件"},
		{"-o %s: that name is reserved for the data of a run; choose another", "-o %s：该文件名保留给运行数据；请另选一个"},
		{"-o %s: %w", "-o %s：%s"},
		{"--document needs a file to write, -o report.md: drawings go beside it", "--document 需要写入的文件，如 -o report.md；图放在它旁边"},
		{"--document needs results: run directories, or documents with published tables", "--document 需要结果：运行目录，或含公开表格的文档"},
		{"%s: the comment that holds its --slo and --demand is damaged (%s); give them again", "%s：保存 --slo 和 --demand 的注释已损坏（%s）；请重新给出"},
		{"lines %d to %d hold no table, and %s is gone; delete that part", "第 %d 至 %d 行没有表格，且 %s 已不存在；请删除这一部分"},
		{"--body must be a JSON object, such as {\"top_p\": 0.9}, and is %.60s", "--body 必须是 JSON 对象，如 {\"top_p\": 0.9}，而不是 %s"},
		{"--header must be Name:Value", "--header 的格式为 名称:值"},
		{"--max-cost needs the prices of a million tokens: --price-in and --price-out", "--max-cost 需要每百万 token 的价格：--price-in 和 --price-out"},
		{"the limit on tokens or cost does not allow another request", "token 或费用上限不允许再发送请求"},
		{"--warmup: %w", "--warmup：%s"}, {"--precision: %w", "--precision：%s"},
		{"--budget must be at least %v; a shorter sweep cannot decide anything", "--budget 至少为 %v；更短的扫描得不出任何判定"},
		{"--points must be between 1 and 1000", "--points 必须在 1 到 1000 之间"},
		{"--repeats repeats an even grid, and --adaptive has none: leave out one of them", "--repeats 重复均匀的到达率网格，而 --adaptive 没有网格：请去掉其中一个"},
		{"--stage-time must be at least 100ms", "--stage-time 至少为 100ms"}, {"--stage-requests must be at least 1", "--stage-requests 至少为 1"},
		{"--max-concurrency must be between 1 and 100000", "--max-concurrency 必须在 1 到 100000 之间"},
		{"--drain must not be negative", "--drain 不能为负"}, {"--max-error-rate must be a share between 0 and 1", "--max-error-rate 必须是 0 到 1 之间的比例"},
		{"--repeats must be between 1 and %d", "--repeats 必须在 1 到 %d 之间"}, {"%q is not a share; write 5%% or 0.05", "%s 不是比例；请写 5%% 或 0.05"},
		{"label %q: write key=value, such as gpu=L20", "标签 %s：请写 键=值，如 gpu=L20"},
		{"label gpus=%s: write the number of GPUs, such as gpus=2", "标签 gpus=%s：请写 GPU 数，如 gpus=2"},
		{"label price=%s: write the price of one GPU for one hour, such as price=1.2", "标签 price=%s：请写每张 GPU 每小时的价格，如 price=1.2"},
		{"label %q is unknown; there are model, gpu, gpus, engine, quant and price", "没有标签 %s；可用的有 model、gpu、gpus、engine、quant 和 price"},
		{"--first-token and --per-token belong together, such as --first-token 100ms --per-token 10ms", "--first-token 和 --per-token 须一起使用，如 --first-token 100ms --per-token 10ms"},
		{"there is no help topic %q", "没有帮助主题 %s"},
		{"%s; llmsweep help lists the topics", "%s；llmsweep help 列出所有主题"},
		{"%s: no result could be read; line %d: %s", "%s：没有能读取的结果；第 %d 行：%s"},
		{"%s: holds no six-column table, stress table, serving block or JSON result of %s", "%s：没有六列表格、压力测试表、serving 结果，也没有这些工具的 JSON 结果：%s"},
		{"%s holds a comparison of two servers: label %s or %s", "%s 是两个服务的比较：请给 %s 或 %s 加标签"}, {"no labels in it", "其中没有标签"},
		{"--drain must not be negative, and --max-error-rate must be a share between 0 and 1", "--drain 不能为负，--max-error-rate 必须是 0 到 1 之间的比例"},
		{"--difference %s: write a percentage above 0, such as 3%%", "--difference %s：请写大于 0 的百分比，如 3%%"}, {"--budget must not be negative", "--budget 不能为负"},
		{"--budget %v is too short for two blocks of stages of %v: give --budget %v or more, or a shorter --stage-time", "--budget %v 放不下两个阶段时长为 %v 的区组：请给 --budget %v 或更长，或缩短 --stage-time"},
		{"--rate %s: it must be a number above 0 and at most %s", "--rate %s：必须大于 0，且不超过 %s"},
		{"--concurrency must be between 1 and 100000", "--concurrency 必须在 1 到 100000 之间"},
		{"--drawing needs --format svg or png", "--drawing 需要 --format svg 或 png"}, {"--width needs --format png", "--width 需要 --format png"},
		{"--width %d: write pixels from %d to %d", "--width %d：像素数须在 %d 到 %d 之间"}, {"%q is no part of the SVG that is painted", "无法绘制 SVG 中的 %q"},
		{"--format %s takes one run directory", "--format %s 只接受一个运行目录"},
		{"%s %s: write HOST:PORT or :PORT, such as :8089", "%s %s：请写作 主机:端口 或 :端口，如 :8089"},
		{"%[1]s %[2]s: other machines could read the run there; name 127.0.0.1, or add %[1]s-any-address", "%[1]s %[2]s：其他机器能在该地址读取运行情况；请用 127.0.0.1，或加上 %[1]s-any-address"},
		{"compare --live needs the URLs of two servers", "compare --live 需要两个服务的地址"}, {"server A: %w", "服务 A：%s"}, {"server B: %w", "服务 B：%s"},
		{"%s already holds a comparison; name another directory with --out, or remove it", "%s 中已有一次比较；请用 --out 指定其他目录，或先删除它"},
		{"--prompt-tokens and --output-tokens must be at least 1", "--prompt-tokens 和 --output-tokens 至少为 1"}, {"--only: %w", "--only：%s"},
		{"report needs a run directory; llmsweep report --help has examples", "report 需要一个运行目录；示例见 llmsweep report --help"},
		{"--format %s is unknown; there are %s", "没有格式 --format %s；可用的有 %s"},
		{"--arrivals trace:%s brings its own prompts: leave out --prompt and --dataset", "--arrivals trace:%s 自带提示词：请去掉 --prompt 和 --dataset"},
		{"--streams must be between 1 and 100000", "--streams 必须在 1 到 100000 之间"},
		{"this program cannot find its own file to start it again: %w", "程序找不到自身的文件，无法再次启动：%s"},
		{"cannot listen on %s: %w; choose another address with --listen", "无法监听 %s：%s；请用 --listen 选择其他地址"},
		{"no configuration was shown to meet the demand; the reasons are in the result", "没有配置被证明满足需求，原因见结果"},
		{"no twin gives a plan that meets the demand; the reasons are in the result", "没有孪生模型给出满足需求的规划，原因见结果"},
		{"the SLO is missed: %s", "不满足 SLO：%s"}, {"no rate was shown to meet the SLO: %s", "没有任何到达率被证明满足 SLO：%s"},
		{"the SLO is not decided: %s", "SLO 未能判定：%s"}, {"the SLO is not decided: in %s %s", "SLO 未能判定：%s 中，%s"},
		{"%s is missed in %s", "%[2]s 不满足 %[1]s"}, {"the requests of %s do not show whether %s is met", "%s 的请求不足以判定是否满足 %s"},
		{"%w (connections go through the proxy %s, set by HTTP_PROXY or HTTPS_PROXY; NO_PROXY excepts a host)", "%s（连接经过代理 %s，由 HTTP_PROXY 或 HTTPS_PROXY 设置；NO_PROXY 可排除主机）"},
		{"%g requests run and %g wait on the server, sent by other clients", "服务上有其他客户端的 %g 个请求在运行、%g 个在等待"},
		{"--tokenizer %s: this kind of tokenizer.json is not supported: %v", "--tokenizer %s：不支持这种 tokenizer.json：%s"},
		{"--tokenizer %s: not a tokenizer.json: %s", "--tokenizer %s：不是 tokenizer.json：%s"},
		{"--prompt-tokens: %w", "--prompt-tokens：%s"}, {"--output-tokens: %w", "--output-tokens：%s"}, {"--turn-tokens: %w", "--turn-tokens：%s"},
		{"--think-time: %w", "--think-time：%s"}, {"--turns: %w", "--turns：%s"},
		{"--prompt, --dataset, --prefix-tokens and --turns are different workloads: give one of them", "--prompt、--dataset、--prefix-tokens 和 --turns 是不同的工作负载：只能给出其中一个"},
		{"--prefix-groups must be at least 1", "--prefix-groups 至少为 1"}, {"--dataset-rows must be at least 1", "--dataset-rows 至少为 1"},
		{"--multi-turn needs --dataset", "--multi-turn 需要 --dataset"},
	}
}

// loadWords are the errors of loads and objectives.
func loadWords() [][2]string {
	return [][2]string{
		{"a closed loop keeps between 1 and %d requests in flight, not %d", "闭环的并发请求数在 1 到 %d 之间，而不是 %d"},
		{"the shape of gamma arrivals must be between %v and %v, not %v", "gamma 到达的形状参数必须在 %v 到 %v 之间，而不是 %v"},
		{"a ramp goes between two rates from 0 to %.0f, not both 0", "ramp 的两个到达率在 0 到 %s 之间，且不能都为 0"},
		{"a ramp needs a duration above 0", "ramp 需要大于 0 的时长"}, {"a trace needs a file", "trace 需要文件"},
		{"a trace is played at a speed above 0, and at most %g", "trace 的回放速度必须大于 0，且不超过 %g"},
		{"a rate must be above 0 and at most %.0f requests per second, not %v", "到达率必须大于 0，且每秒不超过 %s 个请求，而不是 %s"},
		{"at most %d requests in flight: the number must not be negative", "并发请求数上限 %d：不能为负"},
		{"--concurrency is a closed loop and --rate an open one: give one of them (--max-concurrency limits an open loop)", "--concurrency 是闭环，--rate 是开环：只能给出其中一个（--max-concurrency 限制开环）"},
		{"give a load: --concurrency N keeps N requests in flight, --rate R sends R requests per second", "请给出负载：--concurrency N 保持 N 个并发请求，--rate R 每秒发送 R 个请求"},
		{"--time-scale must be above 0", "--time-scale 必须大于 0"},
		{"--max-concurrency limits an open loop (--rate), and is above 0", "--max-concurrency 限制开环（--rate），且大于 0"},
		{"--requests and --duration must be above 0", "--requests 和 --duration 必须大于 0"}, {"give --requests or --duration, not both", "--requests 和 --duration 只能给出一个"},
		{"--concurrency names a number twice", "--concurrency 中有重复的数"}, {"--concurrency: %w", "--concurrency：%s"},
		{"--time-scale goes with --arrivals trace:FILE", "--time-scale 须与 --arrivals trace:FILE 一起使用"}, {"--arrivals: %w", "--arrivals：%s"},
		{"--arrivals %s needs --rate", "--arrivals %s 需要 --rate"}, {"a ramp has its own rates: leave out --rate", "ramp 自带到达率：请去掉 --rate"},
		{"a ramp takes some time: give --duration", "ramp 需要时长：请给出 --duration"},
		{"--time-scale and --rate both say how fast the trace is played: give one of them", "--time-scale 和 --rate 都决定 trace 的回放速度：只能给出其中一个"}, {"--rate: %w", "--rate：%s"},
		{"write poisson, constant, gamma:SHAPE (gamma:0.5), ramp:FROM-TO in requests per second (ramp:2-20) or trace:FILE", "请写 poisson、constant、gamma:SHAPE（如 gamma:0.5）、ramp:FROM-TO（每秒请求数，如 ramp:2-20）或 trace:FILE"},
		{"%q is not a kind of arrivals: %w", "%s 不是到达方式：%s"},
		{"SLO %q: %s; write %s", "SLO %s：%s；请写 %s"}, {"SLO %q: a limit for it was given before; leave one out", "SLO %s：之前已给出限值；请去掉一个"}, {"%q is no share", "%s 不是比例"},
		{"it has no <", "缺少 <"}, {"there is no metric %q", "没有指标 %s"}, {"there is no statistic %q", "没有统计量 %s"},
		{"the limit is not a duration such as 500ms", "限值不是时长，如 500ms"},
		{"%s, or errors<PERCENT, or fidelity>PERCENT, or accuracy>PERCENT, such as ttft:p99<500ms", "%s，或 errors<百分比、fidelity>百分比、accuracy>百分比，如 ttft:p99<500ms"},
	}
}

// runWords are the errors of measuring and of run directories.
func runWords() [][2]string {
	return [][2]string{
		{"interrupted", "已中断"}, {"%q is not a warm-up: write auto, a number of requests (5) or a time (10s)", "%s 不是预热方式：请写 auto、请求数（5）或时长（10s）"},
		{"%d of %d requests failed in %s", "%[3]s 中 %[2]d 个请求有 %[1]d 个失败"},
		{"the server stopped answering in %s", "服务在 %s 中停止响应"}, {"no request succeeded", "没有请求成功"}, {"the budget of %v ran out before %s", "时间预算 %v 在 %s 之前用完"},
		{"cannot make the run directory: %w", "无法建立运行目录：%s"}, {"cannot write in the run directory: %w", "无法写入运行目录：%s"}, {"cannot write %s: %w", "无法写入 %s：%s"},
		{"%s is not a run directory: it has no %s", "%s 不是运行目录：其中没有 %s"}, {"%s is a file; name a run directory, which sweep and run write", "%s 是文件；请给出 sweep 或 run 写出的运行目录"},
		{"%s is a directory; name a file", "%s 是目录；请给出文件"}, {"%s is larger than %d MiB; is it the right file?", "%s 大于 %d MiB；文件是否正确？"}, {"%s is damaged: %w", "%s 已损坏：%s"},
		{"%s has schema %q, and this llmsweep reads %q", "%s 的格式版本为 %s，此版本的 llmsweep 读取 %s"}, {"%s is not a number", "%s 不是数"},
		{"no schema %q: there are %s", "没有 schema %s：可用的有 %s"},
		{"the self-test has no command for its server", "自检没有启动其服务的命令"}, {"the self-test's %s could not be started: %w", "自检的 %s 无法启动：%s"},
		{"its server did not start: %w", "其服务未能启动：%s"}, {"the server has stopped", "服务已停止"}, {"not a TCP connection", "不是 TCP 连接"}, {"the self-test could not measure: %w", "自检无法测量：%s"},
	}
}

// workloadWords are the errors of workloads and data files.
func workloadWords() [][2]string {
	return [][2]string{
		{"%q is not a think time: use a duration (2s), or exp:2s for an exponential one, up to %v", "%s 不是思考时间：请用时长（2s），或指数分布 exp:2s，最长 %v"},
		{"a shared prefix must have 1 to %[2]d tokens, not %[1]d", "共享前缀的长度必须在 1 到 %[2]d 个 token 之间，而不是 %[1]d"},
		{"the number of prefix groups must be from 1 to %[2]d, not %[1]d", "前缀组数必须在 1 到 %[2]d 之间，而不是 %[1]d"},
		{"%s:1: the header has no column prompt, and the file is not JSON. %s", "%s:1：表头没有 prompt 列，文件也不是 JSON。%s"},
		{"A dataset is a JSON array or JSONL of objects with \"prompt\", \"messages\" or \"conversations\", or CSV with a column prompt.", "数据集为 JSON 数组或 JSONL，其对象含 \"prompt\"、\"messages\" 或 \"conversations\"，或为带 prompt 列的 CSV。"},
		{"A trace is JSONL with timestamp (ms), input_length and output_length, or CSV with the columns of BurstGPT's or Azure's.", "trace 为含 timestamp（毫秒）、input_length 和 output_length 的 JSONL，或采用 BurstGPT、Azure 列名的 CSV。"},
		{"%s begins like a gzip file but is not one: %w", "%s 的开头像 gzip 文件，但并不是：%s"}, {"%s is in UTF-16: save it as UTF-8", "%s 为 UTF-16 编码：请存为 UTF-8"},
		{"%s is empty", "%s 是空文件"}, {"%s cannot be read: %w", "无法读取 %s：%s"}, {"%s has no CSV header that can be read: %w", "%s 没有可读取的 CSV 表头：%s"},
		{"%s:1: the header has no columns for the time, the prompt's tokens and the answer's. %s", "%s:1：表头没有时间、提示词 token 数和回答 token 数的列。%s"},
		{"a trace at %v times its speed, or %v requests per second: both must be above 0", "trace 的速度倍数 %v 或每秒请求数 %v：都必须大于 0"},
		{"%s cannot be replayed at %v requests per second: %w", "%s 无法以每秒 %v 个请求回放：%s"}, {"all its requests arrive at the same instant", "其中所有请求都在同一时刻到达"},
		{"the server counts %d tokens for %d words and %d for %d: its counts are of no use", "服务对 %[2]d 个单词计 %[1]d 个 token，对 %[4]d 个单词计 %[3]d 个：计数不可用"},
		{"%q is not a length in tokens: use a number (512), or mean=512,std=100,min=64,max=2048", "%s 不是 token 长度：请用数字（512），或 mean=512,std=100,min=64,max=2048"},
		{"%s has no rows", "%s 没有数据行"}, {"a row of more than %d MB", "一行超过 %d MB"},
	}
}

// reportWords are the errors of package report and beneath it.
func reportWords() [][2]string {
	return [][2]string{
		{"choose needs results: run directories, or documents with published tables", "choose 需要结果：运行目录，或含公开表格的文档"},
		{"choose needs at least one --slo, such as --slo ttft:mean<200ms", "choose 至少需要一个 --slo，如 --slo ttft:mean<200ms"},
		{"choose needs a --demand, such as 20rps or 5000tok/s", "choose 需要 --demand，如 20rps 或 5000tok/s"},
		{"--headroom is the share kept free, from 0 to below 1", "--headroom 是保留的余量，从 0 到小于 1"}, {"--max-gpus must not be negative", "--max-gpus 不能为负"},
		{"%s asks for %s and %s for %s, so a demand is not the same load for both; leave one out, or choose among them anyway with --any-workload", "%s 请求 %s，而 %s 请求 %s，同样的需求对两者不是同样的负载；请去掉一个，或用 --any-workload 仍从中选择"},
		{"--demand %q: write requests or output tokens per second, such as 20rps or 5000tok/s", "--demand %s：请写每秒请求数或每秒输出 token 数，如 20rps 或 5000tok/s"},
		{"--price %q: write GPU=PRICE per GPU-hour, such as L20=1.2,A100=3.6", "--price %s：请写 GPU=每张 GPU 每小时的价格，如 L20=1.2,A100=3.6"}, {"--price %q: %w", "--price %s：%s"},
		{"%s: not a list of prices, one \"L20: 1.2\" a line: %s", "%s：不是价格列表（每行一个，如 \"L20: 1.2\"）：%s"},
		{"%s: holds no price; write one \"L20: 1.2\" a line", "%s：没有价格；请每行写一个，如 \"L20: 1.2\""}, {"%v is no price per GPU-hour", "%v 不是每张 GPU 每小时的价格"},
		{"a price for it was given before; leave one", "之前已给出其价格；请只留一个"},
		{"--only %q: write model, gpu, gpus, engine or quant, an equals sign and a value, such as gpu=L20", "--only %s：请写 model、gpu、gpus、engine 或 quant，加等号和值，如 gpu=L20"},
		{"compare needs two results or more: run directories, or documents with published tables", "compare 需要两个或更多结果：运行目录，或含公开表格的文档"},
		{"%s asks for %s and %s for %s, so their numbers cannot be compared; leave one out, or compare them anyway with --any-workload", "%s 请求 %s，而 %s 请求 %s，数值不可比较；请去掉一个，或用 --any-workload 仍然比较"},
		{"--fail-if %q: write METRIC<-5%% or METRIC>+5%%, such as tokens_per_s<-5%%", "--fail-if %s：请写 指标<-5%% 或 指标>+5%%，如 tokens_per_s<-5%%"},
		{"--fail-if %q: there is no metric %s; there are %s", "--fail-if %s：没有指标 %s；可用的有 %s"}, {"--fail-if %q: %s is no number", "--fail-if %s：%s 不是数"},
		{"it was not written by llmsweep: it has no <!-- llmsweep:... --> in it; name another file with -o, or overwrite it with --force", "不是 llmsweep 写的：其中没有 <!-- llmsweep:... -->；请用 -o 指定其他文件，或用 --force 覆盖"},
		{"%s exists, and llmsweep did not write it, or it was changed since: choose another name, or overwrite it with --force", "%s 已存在，且不是 llmsweep 写的，或之后被修改过：请另选一个名称，或用 --force 覆盖"},
		{"lines %d to %d were changed since llmsweep wrote them, and would be lost: move what you wrote behind the line <!-- /llmsweep:%s ... -->, or overwrite it with --force", "第 %d 至 %d 行在 llmsweep 写入之后被修改，修改会丢失：请把所写内容移到 <!-- /llmsweep:%s ... --> 那一行之后，或用 --force 覆盖"},
		{"line %d opens %q inside of %q, which line %d opened; put <!-- /llmsweep:%s --> before it", "第 %d 行在 %s 之前打开的 %s（第 %d 行）之内又打开一部分；请在它之前写 <!-- /llmsweep:%s -->"},
		{"line %d closes %q, which is not open; take the line out", "第 %d 行结束了并未打开的 %s；请删除该行"},
		{"line %d opens %q, which nothing closes; put <!-- /llmsweep:%s --> where it ends", "第 %d 行打开的 %s 没有结束；请在其结尾写 <!-- /llmsweep:%s -->"},
		{"is empty", "为空"}, {"is no number", "不是数"}, {"is no number that a benchmark prints", "不是压测工具会输出的数"}, {"has the unknown unit %q", "的单位 %s 未知"},
		{"is in %q, which measures something else", "的单位 %s 属于另一种量"}, {"the row has no name", "该行没有名称"}, {"%q: no rate behind the @", "%s：@ 之后没有到达率"},
		{"%q: the rate %w", "%s：到达率%s"}, {"larger than %d MiB, which published results never are; cut the results out of it", "超过 %d MiB，公开的结果不会这么大；请只截取结果部分"},
		{"not text (it holds zero bytes); give the text that the tool printed, as UTF-8", "不是文本（含有零字节）；请给出工具输出的文本，编码为 UTF-8"},
		{"is not understood", "无法理解"}, {"is no count", "不是计数"}, {"line %d: the JSON ends in the middle; was the file cut off?", "第 %d 行：JSON 在中间结束；文件是否被截断？"},
		{"line %d: not JSON: %s", "第 %d 行：不是 JSON：%s"}, {"no language %q: there are %s and %s", "没有语言 %s：可用的有 %s 和 %s"}, {"no format %q: there are %s", "没有格式 %s：可用的有 %s"},
		{"there is no run to render", "没有可输出的运行"},
	}
}

// clientWords are the errors of requests.
func clientWords() [][2]string {
	return [][2]string{
		{"no URL given; want something like http://localhost:8000", "没有给出地址；应类似 http://localhost:8000"},
		{"%s is not a URL (%s); want something like http://localhost:8000", "%s 不是地址（%s）；应类似 http://localhost:8000"},
		{"%s: %s is not a scheme to benchmark over; want http:// or https://", "%s：不支持协议 %s；应为 http:// 或 https://"},
		{"%s names no host; want something like http://localhost:8000", "%s 中没有主机名；应类似 http://localhost:8000"},
		{"a chunk is not JSON", "数据块不是 JSON"}, {"a chunk is not a JSON object", "数据块不是 JSON 对象"},
		{"--api %s: no such API; there are %s", "--api %s：没有这种 API；可用的有 %s"},
		{"--body: not a JSON object; want something like {\"top_p\": 0.9}", "--body：不是 JSON 对象；应类似 {\"top_p\": 0.9}"}, {"--body: the field %q is there twice; leave one out", "--body：字段 %s 出现了两次；请去掉一个"},
		{"--api-key: it contains a control character; was it pasted with a line break?", "--api-key：含有控制字符；粘贴时是否带有换行？"},
		{"--header: %q is not a header name; want letters, digits and dashes", "--header：%s 不是请求头名称；应由字母、数字和短横线组成"}, {"--header %s: its value contains a control character", "--header %s：其值含有控制字符"},
		{"the answer's compression", "回答的压缩格式"}, {"%w (%s) was not asked for and is not understood; turn compression off in the server, or in the proxy in front of it", "%s（%s）并未请求，也无法识别；请关闭服务或其前方代理的压缩"},
		{"%w (gzip) is broken: %v", "%s（gzip）已损坏：%s"}, {"argument %q of note %q: %w", "说明 %[2]s 的参数 %[1]s：%[3]s"},
		{"the server has no endpoint that tokenizes", "服务没有分词接口"}, {"a frame is longer than 16 MB", "一帧超过 16 MB"}, {"--ca: %w", "--ca：%s"},
		{"--ca %s: it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)", "--ca %s：其中没有证书；应为 PEM 文件（-----BEGIN CERTIFICATE-----）"},
		{"no connection within %v: %d were being made, and did not come about", "%v 内没有建立连接：正在建立的 %d 个都未成功"},
		{"the server had closed the connection before it was used again", "服务在连接被再次使用之前已将其关闭"}, {"the connection was due to be closed", "连接原定要关闭"},
		{"--key %s: it has no key that can be read; want a PEM file without a password (-----BEGIN PRIVATE KEY-----)", "--key %s：其中没有可读取的密钥；应为不带密码的 PEM 文件（-----BEGIN PRIVATE KEY-----）"},
		{"unix: names no socket; want something like unix:/run/vllm.sock, or unix:/run/vllm.sock:/prefix", "unix: 没有给出套接字；应类似 unix:/run/vllm.sock 或 unix:/run/vllm.sock:/prefix"},
		{"unix:%s: %q is not the path of a URL (%s)", "unix:%s：%s 不是地址的路径（%s）"},
		{"%d streams at once need %d file descriptors, and this process may open %d: raise the hard limit (ulimit -Hn %d as root; LimitNOFILE= of systemd, --ulimit nofile= of Docker), or lower %s to %d", "同时 %d 个流需要 %d 个文件描述符，而此进程最多可打开 %d 个：请提高硬限制（以 root 执行 ulimit -Hn %d；systemd 用 LimitNOFILE=，Docker 用 --ulimit nofile=），或将 %s 降为 %d"},
		{"%d streams at once need as many local ports, and this machine has %d for connections to one server: widen the range (sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"), or lower %s", "同时 %d 个流需要同样多的本地端口，而本机对同一服务只有 %d 个：请扩大范围（sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"），或降低 %s"},
		{"--cert: %w", "--cert：%s"}, {"--key: %w", "--key：%s"},
		{"--cert %s: it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)", "--cert %s：其中没有证书；应为 PEM 文件（-----BEGIN CERTIFICATE-----）"},
		{"--cert %s: it does not belong to the key in %s", "--cert %s：与 %s 中的密钥不匹配"}, {"--http %s: there are 1, 2 and auto", "--http %s：可用的有 1、2 和 auto"},
		{"--cert %s: it has no key; name the key's file with --key", "--cert %s：其中没有密钥；请用 --key 给出密钥文件"},
		{"--key: the certificate that belongs to the key is missing; name it with --cert", "--key：缺少与密钥配套的证书；请用 --cert 给出"},
		{"no answer within %s", "%s 内没有回答"}, {"the answer is not JSON", "回答不是 JSON"}, {"this is a web page (HTML), not an API", "这是网页（HTML），不是 API"},
		{"no model %s here. There are: %s.", "这里没有模型 %s。可用的有：%s。"}, {"no model %s here.", "这里没有模型 %s。"},
		{"%s. Is the server up? (llmsweep sweep sim: needs none)", "%s。服务是否已启动？（llmsweep sweep sim: 不需要服务）"},
		{"%s. Is the name spelled right, and can this machine resolve it?", "%s。主机名是否正确，本机能否解析？"},
		{"%s. Trust its authority with --ca FILE, or accept any certificate with --insecure.", "%s。请用 --ca FILE 信任其签发者，或用 --insecure 接受任何证书。"},
		{"%s. Use http:// in place of https://.", "%s。请用 http:// 代替 https://。"}, {"%s. Use https:// in place of http://.", "%s。请用 https:// 代替 http://。"},
		{"%s. Is the address right, and reachable from this machine?", "%s。地址是否正确，本机能否访问？"},
		{"%s. Is the server still loading, or does it hang? See its log.", "%s。服务是否仍在加载，或已挂起？请看其日志。"},
		{"%s. Wait until the server, or the gateway in front of it, accepts requests again.", "%s。请等待服务或其前方网关重新接受请求。"},
		{"%s. The error is the server's: see its log. If it is still loading, wait.", "%s。错误来自服务：请看其日志。如仍在加载，请等待。"},
		{"%s. Is that the URL of the API, and not of a web page or another service?", "%s。这是否是 API 的地址，而不是网页或其他服务？"},
		{"%s. Is that the server's base URL, and its API's port?", "%s。这是否是服务的基础地址，端口是否是其 API 的端口？"},
		{"%s. The connection broke: see the log of the server, or of a proxy in front of it.", "%s。连接中断：请看服务或其前方代理的日志。"},
		{"%s. Give a key that is valid here with --api-key or LLMSWEEP_API_KEY.", "%s。请用 --api-key 或 LLMSWEEP_API_KEY 给出有效的密钥。"},
		{"%s. Is the base URL right? It is what comes before /v1, such as http://localhost:8000.", "%s。基础地址是否正确？即 /v1 之前的部分，如 http://localhost:8000。"},
		{"%s. Is the base URL right? It is what comes before /v1, such as http://localhost:8000. A server that lists no models needs --model.", "%s。基础地址是否正确？即 /v1 之前的部分，如 http://localhost:8000。服务不列出模型时需要 --model。"},
		{"%s. The server rejects the request; --body changes its fields.", "%s。服务拒绝了该请求；可用 --body 修改其字段。"},
	}
}
