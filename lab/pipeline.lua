-- wrk script: send DEPTH requests in one segment.
--   wrk … -s pipeline.lua URL -- DEPTH
local batch

init = function(args)
  local depth = tonumber(args[1]) or 1
  local requests = {}
  for index = 1, depth do
    requests[index] = wrk.format()
  end
  batch = table.concat(requests)
end

request = function()
  return batch
end
